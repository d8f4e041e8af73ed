import { openRawConnection, requestText } from '../../../support/raw-http.ts'
import type { SeededRandom } from '../../../support/seeded-random.ts'

/** Requests that differ in their targets alone. */
interface Requests {
  targets: readonly string[]
  method: string
  authorization: string | null
}

/** Every byte of the answers to requests sent together on one connection, but for what tells the time and what is left of a budget. */
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
 * How often the second of two works takes longer than the first, of all pairs of times: one half when nobody can tell them apart, all
 * or none when anybody can. They take turns in random order, so that whatever else the machine does hits both.
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
