import type { ActivityStore } from './activity.ts'
import type { ApiKeyStore } from './api-key.ts'
import type { DailyTotalStore } from './daily-total.ts'
import type { DeletionStore } from './deletion.ts'
import type { ErasureBatchStore } from './erasure-batch.ts'
import type { DerivationStore } from './identifier-derivation.ts'
import type { IngestStore } from './ingest.ts'
import type { Instant } from './instant.ts'
import type { LedgerStore, TombstoneStore } from './ledger.ts'
import type { MaintenanceStore, ScrubState } from './maintenance.ts'
import type { MemberStore, SignInStore } from './member.ts'
import type { OrganisationStore } from './organisation.ts'
import type { ReplayStore } from './replay.ts'
import type { RetentionStore } from './retention.ts'
import type { SecretStore } from './secret.ts'
import type { EventStore, SessionStore } from './session.ts'
import type { SubjectStore } from './subject.ts'
import type { ExportStore } from './subject-export.ts'
import type { SearchStore } from './subject-search.ts'
import type { TrackerStore } from './tracker.ts'

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

/** A value in the form that is the same on every engine: a subject key is its bytes in hexadecimal digits. */
type TransferValue = string | number | null

/** A row as values in the order of its table's columns, or only those of its key. */
export type TransferRow = readonly TransferValue[]

export interface TransferTable {
  name: string
  columns: readonly { name: string; kind: 'text' | 'integer' | 'key' }[]
  /** So many columns, from the first, tell its rows apart. Rows are in their order, which is the same on every engine. */
  keyLength: number
}

/** All that a store holds, row by row, for moving it to another. Nothing is hidden: neither what has aged out nor a key's hash. */
export interface TransferStore {
  /** Every table; one that refers to another comes after it. */
  tables: readonly TransferTable[]
  count(table: TransferTable): Promise<number>
  /** The rows that follow the key `after`, or the first ones, in the order of their keys. */
  read(table: TransferTable, after: TransferRow | null, limit: number): Promise<TransferRow[]>
  /** Adds rows, all or none. Rejects when one with the same key is there. */
  add(table: TransferTable, rows: readonly TransferRow[]): Promise<void>
  /** Takes over when the last scrub was, and that one is due. One that is due here remains so. */
  adoptScrubState(state: ScrubState): Promise<void>
}

/** The values by which a row is told apart. */
export function keyOf({ keyLength }: TransferTable, row: TransferRow): TransferRow {
  return row.slice(0, keyLength)
}
