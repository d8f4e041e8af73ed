import type { Instant } from './instant.ts'

export interface ScrubState {
  /** When the last scrub finished, or before the first one, when the store was created. */
  lastAt: Instant
  /** Whether data was deleted since the last scrub. */
  isDue: boolean
}

export interface ScrubOptions {
  /** Cancels the scrub between two steps. It then rejects with the signal's reason and is still due. */
  signal?: AbortSignal
  /** Called after each step with the completed share, from 0 to 1. */
  onProgress?(share: number): void
}

export interface MaintenanceStore {
  /** Runs `work` unless another process holds the lock; returns `null` then. A crash releases the lock. */
  withMaintenanceLock<Result>(work: () => Promise<Result>): Promise<Result | null>
  /** Stores when the last completed sweep began. */
  noteSweep(begunAt: Instant): Promise<void>
  scrubState(): Promise<ScrubState>
  /** Whether a scrub removes every byte of deleted data, rather than only freeing its space. */
  readonly scrubsEveryByte: boolean
  /**
   * Removes the remains of earlier deletions from the store's files while requests continue. Rejects, and can
   * be repeated, if other processes read old pages for too long.
   */
  scrub(now: Instant, options?: ScrubOptions): Promise<void>
  /**
   * Writes a consistent copy, without remains of deleted data, to a new file. Rejects with `invalid_request`
   * if the engine has its own backup tools.
   */
  backup(file: string): Promise<void>
  /**
   * Distributes the large tables over the nodes of a cluster; repeating it changes nothing. Rejects with
   * `invalid_request` on other engines. Other processes must reopen the store.
   */
  distribute(): Promise<void>
}
