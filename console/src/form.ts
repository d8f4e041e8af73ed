import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { unexpected } from './resource.ts'

/** The state of a form that is sent to the server. */
interface FormState {
  isBusy: boolean
  /** Problems by field name. */
  fields: Readonly<Record<string, string>>
  /** An error that belongs to no field. */
  failure: ApiError | null
  /** Runs `work` when the form is submitted; errors become `fields` or `failure`. */
  submit(work: () => Promise<void>): (event: Event) => void
}

/** A problem that the form finds before the server is asked. */
export function invalid(field: string, message: string): ApiError {
  return new ApiError(422, 'validation_error', message, null, { [field]: message })
}

export function useForm(): FormState {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const form = useRef<EventTarget | null>(null)
  const fields = failure?.fields ?? {}
  // Moves the focus to the first problem, for people who cannot see it.
  useLayoutEffect(() => {
    if (failure && form.current instanceof HTMLFormElement) focusFirstProblem(form.current)
  }, [failure])
  return {
    isBusy,
    fields,
    failure: failure && Object.keys(fields).length === 0 ? failure : null,
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

function focusFirstProblem(form: HTMLFormElement): void {
  const field = form.querySelector('[aria-invalid="true"], [role="alert"]')
  if (field instanceof HTMLElement) field.focus()
}
