import type { Clock, Instant } from '../domain/instant.ts'
import type { Terminal } from './terminal.ts'

/** What people are shown of how far something has come. */
export interface ProgressView {
  /** From 0 to 1; `null` where the end is not known. */
  share: number | null
  /** How many lines, rows or whatever it is are done. */
  done: number
  facts: string[]
}

/** How far work that goes through many lines, rows or subjects has come. */
export interface ProgressState {
  /** What is being done now, where it is one thing after the other. */
  step?: string
  unit: 'lines' | 'rows' | 'subjects'
  /** How many of them are done. */
  count: number
  /** How much of it that is, from 0 to 1; `null` where nobody knows, as of a pipe. */
  share: number | null
}

/** What is over sooner needs no progress. */
const quietMs = 1_000
const tellEveryMs = 10_000

interface ProgressOptions {
  view(elapsedMs: number): ProgressView
  /** How often a line is told where there is no screen. */
  tellEveryMs?: number
}

/** Shows how far something has come: on a screen as one line drawn over and over, elsewhere as a line now and then, if it went on. */
export class Progress {
  readonly #terminal: Terminal
  readonly #clock: Clock
  readonly #view: ProgressOptions['view']
  readonly #tellEveryMs: number
  readonly #startedAt: Instant
  #toldAt: Instant
  #toldDone = 0

  constructor(terminal: Terminal, clock: Clock, options: ProgressOptions) {
    this.#terminal = terminal
    this.#clock = clock
    this.#view = options.view
    this.#tellEveryMs = options.tellEveryMs ?? tellEveryMs
    this.#startedAt = clock()
    this.#toldAt = this.#startedAt
  }

  /** To be called a few times a second. */
  tick(): void {
    const now = this.#clock()
    const elapsedMs = now - this.#startedAt
    const view = this.#view(elapsedMs)
    const columns = this.#terminal.columns()
    if (columns !== null) {
      if (elapsedMs >= quietMs) this.#terminal.draw(progressBar(view, columns))
    } else if (now - this.#toldAt >= this.#tellEveryMs && view.done !== this.#toldDone) {
      this.#toldAt = now
      this.#toldDone = view.done
      this.#terminal.tell(view.facts.join(', '))
    }
  }

  end(): void {
    this.#terminal.draw('')
  }
}

/** The line for a screen: a bar where the end is known, and the facts, never wider than the screen. */
export function progressBar({ share, facts: parts }: ProgressView, columns: number): string {
  const facts = parts.join('  ')
  // A full last column makes some terminals begin a new line.
  const room = columns - 1 - facts.length - '[]  '.length
  if (share === null || room < 5) return facts.slice(0, columns - 1)
  const width = Math.min(room, 40)
  const done = Math.floor(share * width)
  return `[${'#'.repeat(done)}${'.'.repeat(width - done)}]  ${facts}`
}

/** A view of work that goes through many lines or rows. The rate and the time left of each step are measured by themselves. */
export function workProgress(state: () => ProgressState): ProgressOptions['view'] {
  let step: string | undefined
  let stepAtMs = 0
  return (elapsedMs) => {
    const now = state()
    if (now.step !== step) stepAtMs = elapsedMs
    step = now.step
    return { share: now.share, done: now.count, facts: progressFacts(now, elapsedMs - stepAtMs) }
  }
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

export function grouped(number: number): string {
  return number.toLocaleString('en')
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const pair = (number: number) => String(number).padStart(2, '0')
  const minutes = `${pair(Math.floor(seconds / 60) % 60)}:${pair(seconds % 60)}`
  return seconds < 3_600 ? minutes.replace(/^0/, '') : `${Math.floor(seconds / 3_600)}:${minutes}`
}

/** So many of something, in words: "1 entry", "2,000 entries". */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`
}

/** What was deleted of a data subject, in words. */
export function countsInWords({ sessions, events }: { sessions: number; events: number }): string {
  return `${counted(sessions, 'session')} and ${counted(events, 'event')}`
}

/** Lines up rows under their headings, for people. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(headings), ...rows.map(line)]
}

/** Control characters, and those that turn the direction of text around. Visitors' browsers can send any of them. */
const treacherous = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Text as a terminal may show it: what would move its cursor or hide something is written out. */
export function legible(text: string): string {
  return text.replaceAll(treacherous, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}
