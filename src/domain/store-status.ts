import type { Instant } from './instant.ts'
import type { ScrubState } from './maintenance.ts'

/** How a store stands. What one of an older or a newer version does not have, or not in a form that is known here, is `null`. */
export interface StoreStatus {
  /** The engine and its version, such as `PostgreSQL 17.2`. */
  engine: string
  /** How many migrations it has, and how many this program knows. With more of them it is of a newer program. */
  migrations: { applied: number; known: number }
  /** `plan` as it stands there: a newer program may have others. */
  organisations: { id: string; name: string; plan: string }[] | null
  /** How much room it takes, by what takes it. */
  bytes: Record<string, number>
  /** How many rows the small tables have. */
  rows: Record<string, number> | null
  /** How many the large ones have, where the engine keeps an estimate. */
  estimatedRows: Record<string, number> | null
  /** When the last sweep began that came to its end; `null` before the first. */
  sweptAt: Instant | null
  scrub: ScrubState | null
}
