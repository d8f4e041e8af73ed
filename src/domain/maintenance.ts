import type { Instant } from './instant.ts'

/** How a store stands with the traces of what was deleted from it. */
export interface ScrubState {
  /** When the last scrub was; before the first, since when there was nothing to scrub. */
  lastAt: Instant
  /** Whether anything was deleted that no scrub has seen to. */
  isDue: boolean
}

export interface ScrubOptions {
  /** Ends it early, between two pieces; it then rejects with the signal's reason, and is still due. */
  signal?: AbortSignal
  /** Told how much is done, from 0 to 1, after each piece. */
  onProgress?(share: number): void
}

/** Work on the store as a whole. */
export interface MaintenanceStore {
  /** Does `work` unless another process is at such work; `null` then. A process that dies has let go of it. */
  withMaintenanceLock<Result>(work: () => Promise<Result>): Promise<Result | null>
  /** Remembers when a sweep began that has come to its end. */
  noteSweep(begunAt: Instant): Promise<void>
  scrubState(): Promise<ScrubState>
  /** Whether a scrub leaves not one byte of what was deleted; an engine that only frees its room leaves some until it is used again. */
  readonly scrubsEveryByte: boolean
  /**
   * Removes what is left of what was deleted before it began from the store's files, and notes `now` as its time. Reads and writes go
   * on meanwhile, in between its pieces. Rejects, to be run again, when others held on to old pages for too long.
   */
  scrub(now: Instant, options?: ScrubOptions): Promise<void>
  /**
   * Writes a consistent copy of what the store holds now, and nothing it held before, to a file that must not exist. Rejects with an
   * `invalid_request` where the engine has tools of its own for that.
   */
  backup(file: string): Promise<void>
  /**
   * Spreads what grows over the nodes of a distributed database, with what it holds; done again, it changes nothing. Rejects with an
   * `invalid_request` where the engine is none. Other processes must open the store anew.
   */
  distribute(): Promise<void>
}
