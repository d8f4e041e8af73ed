import { type FieldProblem, LetheError } from './errors.ts'

/** How many entries the details of an answer have at most. */
export const maxListed = 100

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

  /** The first hundred of them at most; the last one then tells how many more there are. */
  list(): FieldProblem[] {
    const told = Array.from(this.#byField, ([field, message]) => ({ field, message })).slice(0, this.#told)
    const more = this.#byField.size - told.length
    return more === 0
      ? told
      : [...told, { field: 'details', message: `${more} more problems are not listed` }]
  }

  /** How many are told one by one. */
  get #told(): number {
    return this.#byField.size > maxListed ? maxListed - 1 : this.#byField.size
  }

  /** Throws a `validation_error` naming every field, or does nothing when there is no problem. */
  throwIfAny(): void {
    if (this.#byField.size === 0) return
    const fields = [...this.#byField.keys()].slice(0, this.#told).join(', ')
    const more = this.#byField.size - this.#told
    const others = more === 0 ? '' : ` and ${more} more`
    throw new LetheError('validation_error', `Check ${fields}${others}: see details.`, this.list())
  }
}
