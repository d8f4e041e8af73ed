import { useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { unexpected } from './resource.ts'

/** A form that is sent to the server: what is wrong with it, and whether it is under way. */
export interface FormState {
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
  const fields = failure?.fields ?? {}
  return {
    isBusy,
    fields,
    failure: failure && Object.keys(fields).length === 0 ? failure : null,
    submit: (work) => (event) => {
      event.preventDefault()
      if (isBusy) return
      const form = event.currentTarget
      setBusy(true)
      setFailure(null)
      work()
        .catch((error: unknown) => {
          setFailure(error instanceof ApiError ? error : unexpected(error))
          if (form instanceof HTMLFormElement) focusFirstProblem(form)
        })
        .finally(() => setBusy(false))
    },
  }
}

/** Once the problems are drawn, whoever cannot see them is led to the first. */
function focusFirstProblem(form: HTMLFormElement): void {
  setTimeout(() => {
    const field = form.querySelector('[aria-invalid="true"], [role="alert"]')
    if (field instanceof HTMLElement) field.focus()
  })
}
