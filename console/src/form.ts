import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { unexpected } from './resource.ts'

/** A form that is sent to the server: what is wrong with it, and whether it is under way. */
interface FormState {
  isBusy: boolean
  /** What is wrong with each field. */
  fields: Readonly<Record<string, string>>
  /** What is wrong apart from any field. */
  failure: ApiError | null
  /** Does the work when the form is submitted; what goes wrong shows up here. */
  submit(work: () => Promise<void>): (event: Event) => void
}

/** What a form refuses by itself, before the server is asked. */
export function invalid(field: string, message: string): ApiError {
  return new ApiError(422, 'validation_error', message, null, { [field]: message })
}

export function useForm(): FormState {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const form = useRef<EventTarget | null>(null)
  const fields = failure?.fields ?? {}
  // With the problems, whoever cannot see them is led to the first.
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
