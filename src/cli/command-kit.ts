import type { Config } from '../config.ts'
import type { Workplace } from '../workplace.ts'
import type { Terminal } from './terminal.ts'

/** What every command is handed. */
export interface CommandKit {
  terminal: Terminal
  config(): Config
  /** Says that the command could not do all of its work: exit code 1. */
  fail(): void
  /** Opens the configured store for as long as `work` takes. */
  withStore<Result>(work: (workplace: Workplace) => Promise<Result>): Promise<Result>
  /** Opens another store for as long as `work` takes; with `mustExist`, only one that is there. */
  withStoreAt<Result>(
    address: Config['store'],
    options: { mustExist: boolean },
    work: (workplace: Workplace) => Promise<Result>,
  ): Promise<Result>
}
