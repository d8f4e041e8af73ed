import type { Clock } from './instant.ts'
import type { Journal } from './journal.ts'
import type { Keyring } from './keyring.ts'
import type { Randomness } from './randomness.ts'
import type { RetentionPolicy } from './retention.ts'
import type { FairQueue } from './semaphore.ts'
import type { Store } from './store.ts'

/** What operations work with: the store's ports, how long things are kept, the time, chance, and the journal where one is kept. */
export interface ServicesWithoutSecrets extends Store, RetentionPolicy {
  clock: Clock
  randomness: Randomness
  journal?: Journal
  /** Runs what takes long, fairly between organisations. */
  jobs: FairQueue
}

/** The same with the secrets, for whatever erases, lets data in or proves something. */
export interface Services extends ServicesWithoutSecrets {
  keyring: Keyring
}
