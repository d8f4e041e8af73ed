import type { Config } from '../config.ts'
import type { Services, ServicesWithoutSecrets } from '../domain/services.ts'
import type { Store } from '../domain/store.ts'
import type { Terminal } from './terminal.ts'

type BareStore = Store & Pick<Services, 'clock'>

/** What every command is handed. */
export interface CommandKit {
  terminal: Terminal
  config(): Config
  /** Says that the command could not do all of its work: exit code 1. */
  fail(): void
  /** The one JSON object of a command that has something to say even when it fails; `error` is then added to it. */
  summarise(summary: object): void
  /**
   * Opens the configured store for as long as `work` takes, without the secrets it belongs to. It must be there: a mistyped address is
   * no empty store.
   */
  withStore<Result>(work: (services: ServicesWithoutSecrets) => Promise<Result>): Promise<Result>
  /** The same with the secrets, for commands that cannot do without. People are told of one that is made. */
  withSecrets<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** The same with a thread that writes, for what has much else to do meanwhile. */
  withSecretsAndThread<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** As `withStore`, for the few commands that make one where there is none, and its secret; people are told where. */
  ensureStore<Result>(work: (services: ServicesWithoutSecrets) => Promise<Result>): Promise<Result>
  /** Opens any store for as long as `work` takes, without the secrets it belongs to. */
  withStoreAt<Result>(
    address: Config['store'],
    options: { create: boolean },
    work: (store: BareStore) => Promise<Result>,
  ): Promise<Result>
}
