import { openRawConnection, requestText } from '../../../support/raw-http.ts'
import type { SeededRandom } from '../../../support/seeded-random.ts'

/** Requests that differ only in their targets. */
interface Requests {
  targets: readonly string[]
  method: string
  authorization: string | null
}

/** Every byte of the answers to pipelined requests, except times and budgets. */
export async function rawAnswers(url: string, { targets, method, authorization }: Requests): Promise<string> {
  const connection = await openRawConnection(url)
  const headers: [string, string][] = [['X-Request-Id', 'same']]
  if (authorization !== null) headers.push(['Authorization', authorization])
  const last: [string, string] = ['Connection', 'close']
  const requests = targets.map((target, i) =>
    requestText(target, { method, headers: i + 1 < targets.length ? headers : [...headers, last] }),
  )
  connection.send(requests.join(''))
  const text = await connection.rest()
  return text
    .replace(/^(Date|RateLimit|X-RateLimit-Remaining|X-RateLimit-Reset): .*$/gm, '$1: any')
    .replace(/"timestamp":"[^"]*"/g, '"timestamp":"any"')
}

/** Does something and is done when it is done. */
type Work = () => Promise<void>

/**
 * The share of all pairs of times in which the second function takes longer: one half if nobody can
 * distinguish them, 0 or 1 if anyone can. They run in random order, so that other load affects both.
 */
export async function compareTimes(
  random: SeededRandom,
  first: Work,
  second: Work,
  rounds: number,
): Promise<number> {
  const times = { first: [] as number[], second: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const which of random.shuffle(['first', 'second'] as const)) {
      const startedAt = performance.now()
      await (which === 'first' ? first() : second())
      times[which].push(performance.now() - startedAt)
    }
  }
  const longer = times.first.reduce((sum, one) => sum + times.second.filter((other) => other > one).length, 0)
  return longer / (rounds * rounds)
}
