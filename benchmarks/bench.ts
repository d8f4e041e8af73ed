import type { Lifetime } from './lifetime.ts'
import type { LoadGenerator } from './load/load.ts'
import type { Group } from './report/results.ts'

/** The context of a part of the benchmarks. */
export interface Bench<Size> {
  size: Size
  load: LoadGenerator
  lifetime: Lifetime
  /** Reports progress to people. */
  tell(line: string): void
  /** Writes the results so far, so that an interruption does not lose them. */
  keep(groups: Group[]): void
}

/** A part: measures at the given size and returns the results. */
export type Part<Size> = (bench: Bench<Size>) => Promise<Group[]>
