import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { unexpected } from './resource.ts'

/** The state of a form that is sent to the server. */
interface FormState<Field extends string> {
  isBusy: boolean
  /** Problems of the fields that the form shows, by name. */
  fields: Readonly<Partial<Record<Field, string>>>
  /** An error that belongs to none of these fields. */
  failure: ApiError | null
  /** Runs `work` when the form is submitted; errors become `fields` or `failure`. */
  submit(work: () => Promise<void>): (event: Event) => void
}

/** A problem that the form finds before the server is asked. */
export function invalid(field: string, message: string): ApiError {
  return new ApiError(422, 'validation_error', message, null, { [field]: message })
}

/** `shown` names the fields that show their problems. All other problems become the failure, so that none is silent. */
export function useForm<Field extends string = never>(...shown: readonly Field[]): FormState<Field> {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const form = useRef<EventTarget | null>(null)
  const isShown = (field: string): field is Field => shown.some((each) => each === field)
  // Moves the focus to the first problem, for people who cannot see it.
  useLayoutEffect(() => {
    if (failure && form.current instanceof HTMLFormElement) focusFirstProblem(form.current)
  }, [failure])
  return {
    isBusy,
    fields: problemsIn(failure, isShown),
    failure: failure && unshown(failure, isShown),
    submit: (work) => (event) => {
      event.preventDefault()
      if (isBusy) return
      form.current = event.currentTarget
      setBusy(true)
      setFailure(null)
      work()
        .catch((error: unknown) => setFailure(error instanceof ApiError ? error : unexpected(error)))
        .finally(() => setBusy(false))
    },
  }
}

function problemsIn<Field extends string>(
  error: ApiError | null,
  isShown: (field: string) => field is Field,
) {
  const problems: Partial<Record<Field, string>> = {}
  for (const [field, problem] of Object.entries(error?.fields ?? {}))
    if (isShown(field)) problems[field] = problem
  return problems
}

/** The error without the problems that are shown with their fields; `null` if nothing is left. */
function unshown(error: ApiError, isShown: (field: string) => boolean): ApiError | null {
  const all = Object.entries(error.fields)
  const left = all.filter(([field]) => !isShown(field))
  if (left.length === 0) return all.length === 0 ? error : null
  const { status, code, message, requestId } = error
  return new ApiError(status, code, message, requestId, Object.fromEntries(left))
}

function focusFirstProblem(form: HTMLFormElement): void {
  const field = form.querySelector('[aria-invalid="true"], [role="alert"]')
  if (field instanceof HTMLElement) field.focus()
}
