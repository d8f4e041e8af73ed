import type { ActivityStore } from './activity.ts'
import type { ApiKeyStore } from './api-key.ts'
import type { DailyTotalStore } from './daily-total.ts'
import type { DeletionStore } from './deletion.ts'
import type { ErasureBatchStore } from './erasure-batch.ts'
import type { EventStore } from './event.ts'
import type { DerivationStore } from './identifier-derivation.ts'
import type { IngestStore } from './ingest.ts'
import type { LedgerStore } from './ledger.ts'
import type { MaintenanceStore } from './maintenance.ts'
import type { MemberStore } from './member.ts'
import type { OrganisationStore } from './organisation.ts'
import type { ReplayStore } from './replay.ts'
import type { RetentionStore } from './retention.ts'
import type { SecretStore } from './secret.ts'
import type { SessionStore } from './session.ts'
import type { SignInStore } from './sign-in.ts'
import type { SubjectStore } from './subject.ts'
import type { ExportStore } from './subject-export.ts'
import type { SearchStore } from './subject-search.ts'
import type { TombstoneStore } from './tombstone.ts'
import type { TrackerStore } from './tracker.ts'
import type { TransferStore } from './transfer.ts'

/** Everything an engine must offer: one narrow port per noun. */
export interface Store {
  organisations: OrganisationStore
  trackers: TrackerStore
  apiKeys: ApiKeyStore
  subjects: SubjectStore
  search: SearchStore
  exports: ExportStore
  sessions: SessionStore
  events: EventStore
  ingest: IngestStore
  derivation: DerivationStore
  dailyTotals: DailyTotalStore
  retention: RetentionStore
  deletions: DeletionStore
  members: MemberStore
  signIns: SignInStore
  activity: ActivityStore
  erasureBatches: ErasureBatchStore
  tombstones: TombstoneStore
  ledger: LedgerStore
  secrets: SecretStore
  maintenance: MaintenanceStore
  transfer: TransferStore
  replay: ReplayStore
  /** Runs a batch of reads. An engine may let them share what each would do alone; they then see the same moment. */
  batchReads(reads: () => void): void
  /** Rejects when the store does not answer, or is known to be unable to write. */
  ping(): Promise<void>
  /** Gets ready to write, where the first write would otherwise have to. Rejects when that is not possible. */
  prepareToWrite?(): Promise<void>
  /** How an engine's connections are used, for one that has several: open, of those at work, and how many calls wait for one. */
  connections?(): { open: number; busy: number; waiting: number }
  /**
   * For how long readers of other processes have kept what was erased in the write-ahead log, where that is longer than an erasure
   * waits for them; 0 where not. Of an engine whose log is its own affair, nothing.
   */
  logHeldMs?(): number
  /** Finishes what is under way, then lets go of the engine. */
  close(): Promise<void>
}

/** There is no store where one was to be opened. */
export class MissingStore extends Error {
  override name = 'MissingStore'

  constructor(place: string) {
    super(`There is no store at ${place}.`)
  }
}
