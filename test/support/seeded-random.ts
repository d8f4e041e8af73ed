/** Repeatable random numbers: the same seed gives the same numbers. */
export interface SeededRandom {
  /** The value for `LETHE_TEST_SEED` that reproduces a failure. */
  seed: number
  /** An integer from 0 to `below - 1`. */
  integer(below: number): number
  pick<Item>(items: readonly Item[]): Item
  shuffle<Item>(items: readonly Item[]): Item[]
}

/** A generator (mulberry32) with the seed in `LETHE_TEST_SEED`, or a new one in every run. */
export function seededRandom(
  seed = Number(process.env.LETHE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31)),
): SeededRandom {
  let state = seed
  function integer(below: number): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
  function pick<Item>(items: readonly Item[]): Item {
    const item = items[integer(items.length)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }
  function shuffle<Item>(items: readonly Item[]): Item[] {
    const rest = [...items]
    const shuffled: Item[] = []
    while (rest.length > 0) shuffled.push(...rest.splice(integer(rest.length), 1))
    return shuffled
  }
  return { seed, integer, pick, shuffle }
}
