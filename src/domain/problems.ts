import { type FieldProblem, LetheError } from './errors.ts'

/** Gathers everything wrong with a request, so that a caller learns all of it together: one problem per field, the first one found. */
export class Problems {
  readonly #byField = new Map<string, string>()

  add(field: string, message: string): void {
    if (!this.#byField.has(field)) this.#byField.set(field, message)
  }

  /** Whether one of these fields has a problem. */
  has(...fields: readonly string[]): boolean {
    return fields.some((field) => this.#byField.has(field))
  }

  list(): FieldProblem[] {
    return [...this.#byField].map(([field, message]) => ({ field, message }))
  }

  /** Throws a `validation_error` naming every field, or does nothing when there is no problem. */
  throwIfAny(): void {
    if (this.#byField.size === 0) return
    const details = this.list()
    const fields = details.map((problem) => problem.field).join(', ')
    throw new LetheError('validation_error', `Check ${fields}: see details.`, details)
  }
}
