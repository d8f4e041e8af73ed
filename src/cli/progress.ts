import type { IngestCounts } from '../domain/ingest.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Terminal } from './terminal.ts'

/** What a progress line shows. */
interface ProgressView {
  /** From 0 to 1; `null` if the total is unknown. */
  share: number | null
  /** The number of units done. */
  done: number
  facts: string[]
}

/** The state of work on many lines, rows or subjects. */
export interface ProgressState {
  /** The current step, if there are several. */
  step?: string
  unit: 'lines' | 'records' | 'rows' | 'subjects'
  /** The number of units done. */
  count: number
  /** From 0 to 1; `null` if the total is unknown, as for a pipe. */
  share: number | null
}

/** Shorter work shows no progress. */
const quietMs = 1_000
const tellEveryMs = 10_000

interface ProgressOptions {
  view(elapsedMs: number): ProgressView
  /** How often to print a line if there is no screen. */
  tellEveryMs?: number
}

/** Shows progress: on a screen as a line that is redrawn, elsewhere as a line from time to time. */
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

  /** Call this a few times per second. */
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

/** The line for a screen: a bar if the total is known, and the facts, never wider than the screen. */
export function progressBar({ share, facts: parts }: ProgressView, columns: number): string {
  const facts = parts.join('  ')
  // Some terminals wrap if the last column is filled.
  const room = columns - 1 - facts.length - '[]  '.length
  if (share === null || room < 5) return facts.slice(0, columns - 1)
  const width = Math.min(room, 40)
  const done = Math.floor(share * width)
  return `[${'#'.repeat(done)}${'.'.repeat(width - done)}]  ${facts}`
}

/** A view of work on many units. The rate and the remaining time are measured separately for each step. */
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

/** Step, percentage, count and rate, then the remaining or, if the total is unknown, the elapsed time. */
export function progressFacts({ step, unit, count, share }: ProgressState, elapsedMs: number): string[] {
  const what = step === undefined ? [] : [step]
  const rate = elapsedMs > 0 ? Math.round((count / elapsedMs) * 1_000) : 0
  const figures = [`${grouped(count)} ${unit}`, `${grouped(rate)} ${unit}/s`]
  if (share === null) return [...what, ...figures, duration(elapsedMs)]
  const percent = `${Math.floor(share * 100)}%`
  if (share === 0) return [...what, percent, ...figures]
  return [...what, percent, ...figures, `${duration((elapsedMs * (1 - share)) / share)} left`]
}

/** A share for progress. A file that grows while it is read can exceed its total. */
export function shareOf(done: number, total: number | null): number | null {
  return total === null || total === 0 ? null : Math.min(1, done / total)
}

export function grouped(number: number): string {
  return number.toLocaleString('en')
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const pair = (number: number) => String(number).padStart(2, '0')
  const minutes = `${pair(Math.floor(seconds / 60) % 60)}:${pair(seconds % 60)}`
  return seconds < 3_600 ? minutes.replace(/^0/, '') : `${Math.floor(seconds / 3_600)}:${minutes}`
}

/** A number with its noun: "1 entry", "2,000 entries". */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`
}

export function countsInWords({ sessions, events }: { sessions: number; events: number }): string {
  return `${counted(sessions, 'session')} and ${counted(events, 'event')}`
}

export function addedInWords({ subjects, sessions, events }: IngestCounts): string {
  return `${counted(subjects, 'subject')}, ${counted(sessions, 'session')}, ${counted(events, 'event')}`
}

export function sizeInWords(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : megabytes(bytes)
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

/** Aligns rows under their headings. */
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

/** Control characters and those that change the direction of text. Browsers can send any of them. */
const unsafeCharacters = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes characters that would move a terminal's cursor or hide text. */
export function legible(text: string): string {
  return text.replaceAll(unsafeCharacters, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}
