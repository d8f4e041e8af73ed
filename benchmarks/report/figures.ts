import type { Row } from './results.ts'

/** Gathers figures round by round, row by row, in the order in which rows were first heard of. */
export class Figures {
  readonly #rows = new Map<string, Record<string, number[]>>()

  /** Adds what a round gave; what nobody could tell is left out. */
  add(name: string, round: Record<string, number | null>): void {
    const figures = this.#rows.get(name) ?? {}
    this.#rows.set(name, figures)
    for (const [figure, value] of Object.entries(round)) {
      if (value === null) continue
      const values = figures[figure] ?? []
      figures[figure] = values
      values.push(value)
    }
  }

  rows(): Row[] {
    return [...this.#rows].map(([name, figures]) => ({ name, figures }))
  }
}
