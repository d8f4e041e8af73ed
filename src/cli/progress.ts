import type { Clock, Instant } from '../domain/instant.ts'
import type { Terminal } from './terminal.ts'

/** How far a long piece of work has come. */
export interface ProgressState {
  /** What is being done now, where it is one thing after the other. */
  step?: string
  unit: 'lines' | 'rows'
  /** How many of them are done. */
  count: number
  /** How much of it that is, from 0 to 1; `null` where nobody knows, as of a pipe. */
  share: number | null
}

/** What is over sooner needs no progress. */
const quietMs = 1_000
const tellEveryMs = 10_000

/** Shows how far the work has come: on a screen as one line drawn over and over, elsewhere as a line now and then. */
export class Progress {
  readonly #terminal: Terminal
  readonly #clock: Clock
  readonly #state: () => ProgressState
  readonly #startedAt: Instant
  #toldAt: Instant
  #step: string | undefined
  #stepAt: Instant

  constructor(terminal: Terminal, clock: Clock, state: () => ProgressState) {
    this.#terminal = terminal
    this.#clock = clock
    this.#state = state
    this.#startedAt = clock()
    this.#toldAt = this.#startedAt
    this.#stepAt = this.#startedAt
  }

  /** To be called a few times a second. */
  tick(): void {
    const now = this.#clock()
    const state = this.#state()
    if (state.step !== this.#step) this.#stepAt = now
    this.#step = state.step
    const elapsedMs = now - this.#stepAt
    const columns = this.#terminal.columns()
    if (columns !== null) {
      if (now - this.#startedAt >= quietMs) this.#terminal.draw(progressBar(state, elapsedMs, columns))
    } else if (now - this.#toldAt >= tellEveryMs) {
      this.#toldAt = now
      this.#terminal.tell(progressFacts(state, elapsedMs).join(', '))
    }
  }

  end(): void {
    this.#terminal.draw('')
  }
}

/** The line for a screen: a bar where the end is known, and the facts, never wider than the screen. */
export function progressBar(state: ProgressState, elapsedMs: number, columns: number): string {
  const facts = progressFacts(state, elapsedMs).join('  ')
  const { share } = state
  // A full last column makes some terminals begin a new line.
  const room = columns - 1 - facts.length - '[]  '.length
  if (share === null || room < 5) return facts.slice(0, columns - 1)
  const width = Math.min(room, 40)
  const done = Math.floor(share * width)
  return `[${'#'.repeat(done)}${'.'.repeat(width - done)}]  ${facts}`
}

/** What, how far, how many, how fast; and how long it will take or, where the end is not known, has taken. */
export function progressFacts({ step, unit, count, share }: ProgressState, elapsedMs: number): string[] {
  const what = step === undefined ? [] : [step]
  const rate = elapsedMs > 0 ? Math.round((count / elapsedMs) * 1_000) : 0
  const figures = [`${grouped(count)} ${unit}`, `${grouped(rate)} ${unit}/s`]
  if (share === null) return [...what, ...figures, duration(elapsedMs)]
  const percent = `${Math.floor(share * 100)}%`
  if (share === 0) return [...what, percent, ...figures]
  return [...what, percent, ...figures, `${duration((elapsedMs * (1 - share)) / share)} left`]
}

/** A share for progress. What grows while it is worked on has more than it was said to have. */
export function shareOf(done: number, total: number | null): number | null {
  return total === null || total === 0 ? null : Math.min(1, done / total)
}

function grouped(number: number): string {
  return number.toLocaleString('en')
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const pair = (number: number) => String(number).padStart(2, '0')
  const minutes = `${pair(Math.floor(seconds / 60) % 60)}:${pair(seconds % 60)}`
  return seconds < 3_600 ? minutes.replace(/^0/, '') : `${Math.floor(seconds / 3_600)}:${minutes}`
}
