/** How much of a job was done at a time, in milliseconds. */
export interface Observation {
  at: number
  done: number
}

/** The rate is the average of this time, or of longer if less was done in it than `fewDone`. */
const windowMs = 60_000
const fewDone = 5
/** Less than this says nothing about the rate. */
const minMs = 4_000
const minDone = 2

/** Adds an observation, and drops those that are too old. */
export function observe(seen: readonly Observation[], now: Observation): Observation[] {
  const kept = [...seen]
  // Of a time without progress, only the start and the end matter.
  if (kept.length > 1 && kept.at(-1)?.done === now.done && kept.at(-2)?.done === now.done) kept.pop()
  const isOld = (next: Observation | undefined) =>
    next !== undefined && now.at - next.at >= windowMs && now.done - next.done >= fewDone
  while (isOld(kept[1])) kept.shift()
  return [...kept, now]
}

/** What is done per second; `null` while that is unknown. */
export function rateOf(seen: readonly Observation[]): number | null {
  const [first, last] = [seen[0], seen.at(-1)]
  if (!first || !last) return null
  const [ms, done] = [last.at - first.at, last.done - first.done]
  return ms < minMs || done < minDone ? null : (done / ms) * 1_000
}

const rateUnits = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3_600],
] as const

/** A rate in the unit in which it is at least 1. */
export function rateInWords(perSecond: number): string {
  const [unit, seconds] = rateUnits.find(([, seconds]) => perSecond * seconds >= 1) ?? rateUnits[2]
  const rate = perSecond * seconds
  return `${rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)} per ${unit}`
}

/** An estimate, no more precise than it can be. */
export function leftInWords(seconds: number): string {
  if (seconds < 50) return 'less than a minute left'
  const [minutes, hours] = [Math.round(seconds / 60), Math.round(seconds / 3_600)]
  if (minutes < 90) return `about ${some(minutes, 'minute')} left`
  return `about ${hours < 36 ? some(hours, 'hour') : some(Math.round(seconds / 86_400), 'day')} left`
}

function some(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
