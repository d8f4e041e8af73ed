import type { SeededRandom } from '../../../support/seeded-random.ts'

/** Does something and is done when it is done. */
export type Work = () => Promise<void>

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
