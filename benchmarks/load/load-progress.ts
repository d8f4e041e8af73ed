/** Shorter loads report nothing. */
const tellEveryMs = 10_000

interface LoadPlan {
  /** The events in the store before. */
  from: number
  /** The events in the store after this load. */
  to: number
  /** The events in the store after all loads. */
  last: number
}

/**
 * Reports how far a load is, how fast, and how much longer it takes. Returns a function to call with each
 * batch.
 */
export function loadProgress(
  { from, to, last }: LoadPlan,
  tell: (line: string) => void,
  now: () => number = () => performance.now(),
): (events: number) => void {
  const startedAt = now()
  let [done, toldAt, toldDone] = [0, startedAt, 0]
  return (events) => {
    done += events
    const at = now()
    if (at - toldAt < tellEveryMs) return
    const perSecond = ((done - toldDone) / (at - toldAt)) * 1_000
    const mean = (done / (at - startedAt)) * 1_000
    const left = (target: number) => duration((target - from - done) / mean)
    const whole = last > to ? `, ${left(last)} of loading to ${count(last)}` : ''
    tell(
      `${count(from + done)} of ${count(to)} events, ${count(Math.round(perSecond))} a second, ${left(to)} left${whole}`,
    )
    toldAt = at
    toldDone = done
  }
}

function count(number: number): string {
  return number.toLocaleString('en')
}

function duration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 100 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}
