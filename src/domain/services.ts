import type { IngestQueue } from './ingest-queue.ts'
import type { Clock } from './instant.ts'
import type { Journal } from './journal.ts'
import type { Keyring } from './keyring.ts'
import type { Randomness } from './randomness.ts'
import type { RetentionPolicy } from './retention.ts'
import type { FairQueue } from './semaphore.ts'
import type { Store } from './store.ts'

/** The dependencies of operations that need no secrets. */
export interface ServicesWithoutSecrets extends Store, RetentionPolicy {
  clock: Clock
  randomness: Randomness
  journal?: Journal
  jobs: FairQueue
}

export interface Services extends ServicesWithoutSecrets {
  keyring: Keyring
  ingestQueue: IngestQueue
}
