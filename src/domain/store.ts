import type { ActivityStore } from './activity.ts'
import type { ApiKeyStore } from './api-key.ts'
import type { ApprovalStore } from './approval.ts'
import type { DailyTotalStore } from './daily-total.ts'
import type { DeletionStore } from './deletion.ts'
import type { DerivationStore } from './identifier-derivation.ts'
import type { IngestStore } from './ingest.ts'
import type { Instant } from './instant.ts'
import type { LedgerStore, TombstoneStore } from './ledger.ts'
import type { MaintenanceStore, ScrubState } from './maintenance.ts'
import type { MemberStore } from './member.ts'
import type { OrganisationStore } from './organisation.ts'
import type { OrganisationProfileStore } from './organisation-profile.ts'
import type { PasskeyStore } from './passkey.ts'
import type { PrivacyRequestStore } from './privacy-request.ts'
import type { RecoveryCodeStore } from './recovery-code.ts'
import type { ReplayStore } from './replay.ts'
import type { ReplyTextStore } from './reply-text.ts'
import type { RequestGroupStore } from './request-group.ts'
import type { RequestHandlingStore } from './request-handling.ts'
import type { RequestReportStore } from './request-report.ts'
import type { RetentionStore } from './retention.ts'
import type { SecondFactorStore } from './second-factor.ts'
import type { SecretStore } from './secret.ts'
import type { EventStore, SessionStore } from './session.ts'
import type { SignInStore } from './sign-in.ts'
import type { SignInChallengeStore } from './sign-in-challenge.ts'
import type { SignInRulesStore } from './sign-in-rules.ts'
import type { SingleSignOnStore } from './single-sign-on.ts'
import type { SubjectStore } from './subject.ts'
import type { ExportStore } from './subject-export.ts'
import type { SearchStore } from './subject-search.ts'
import type { TotpStore } from './totp.ts'
import type { TrackerStore } from './tracker.ts'
import type { VariableStore } from './variable.ts'
import type { VariableTokenStore } from './variable-token.ts'

/** What an engine implements: one narrow port per noun. */
export interface Store {
  organisations: OrganisationStore
  organisationProfiles: OrganisationProfileStore
  replyTexts: ReplyTextStore
  trackers: TrackerStore
  apiKeys: ApiKeyStore
  variables: VariableStore
  variableTokens: VariableTokenStore
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
  singleSignOn: SingleSignOnStore
  signInChallenges: SignInChallengeStore
  signInRules: SignInRulesStore
  secondFactors: SecondFactorStore
  passkeys: PasskeyStore
  totp: TotpStore
  recoveryCodes: RecoveryCodeStore
  activity: ActivityStore
  approvals: ApprovalStore
  privacyRequests: PrivacyRequestStore
  requestGroups: RequestGroupStore
  requestHandling: RequestHandlingStore
  requestReports: RequestReportStore
  tombstones: TombstoneStore
  ledger: LedgerStore
  secrets: SecretStore
  maintenance: MaintenanceStore
  transfer: TransferStore
  replay: ReplayStore
  /** Runs a batch of reads, which an engine may combine; they then share a snapshot. */
  batchReads(reads: () => void): void
  /** Rejects if the store does not respond or cannot write. */
  ping(): Promise<void>
  /** Prepares for writing, so that the first write does not have to. Rejects if that is not possible. */
  prepareToWrite?(): Promise<void>
  /** The use of an engine's connection pool. */
  connections?(): { open: number; busy: number; waiting: number }
  /**
   * How long readers in other processes have kept erased data in the write-ahead log, beyond the time that an
   * erasure waits for them; otherwise 0. Only for embedded engines.
   */
  logHeldMs?(): number
  /** Finishes work in progress, then closes the engine. */
  close(): Promise<void>
}

export class MissingStore extends Error {
  override name = 'MissingStore'

  constructor(place: string) {
    super(`There is no store at ${place}.`)
  }
}

/** Fields that a store of another version lacks, or stores in an unknown form, are `null`. */
export interface StoreStatus {
  /** Such as `PostgreSQL 17.2`. */
  engine: string
  /** More migrations applied than known means that a newer program created the store. */
  migrations: { applied: number; known: number }
  /** `plan` is not validated, since a newer program may have others. */
  organisations: { id: string; name: string; plan: string }[] | null
  /** Storage used, by category. */
  bytes: Record<string, number>
  /** Exact, for the small tables. */
  rows: Record<string, number> | null
  /** For the large tables, if the engine has estimates. */
  estimatedRows: Record<string, number> | null
  /** When the last completed sweep began; `null` before the first. */
  sweptAt: Instant | null
  scrub: ScrubState | null
}

/** The same on every engine: a subject key is in hexadecimal. */
type TransferValue = string | number | null

/** Values in the order of the table's columns, or of its key columns only. */
export type TransferRow = readonly TransferValue[]

export interface TransferTable {
  name: string
  columns: readonly { name: string; kind: 'text' | 'integer' | 'key' }[]
  /** The number of leading columns that form the key. Rows are ordered by it, identically on every engine. */
  keyLength: number
}

/** Reads and writes complete rows, to copy a store: including expired data and key hashes. */
export interface TransferStore {
  /** A table follows the tables that it refers to. */
  tables: readonly TransferTable[]
  count(table: TransferTable): Promise<number>
  /** Rows after the key `after`, or from the start, in key order. */
  read(table: TransferTable, after: TransferRow | null, limit: number): Promise<TransferRow[]>
  /** Adds all rows or none. Rejects if a key exists. */
  add(table: TransferTable, rows: readonly TransferRow[]): Promise<void>
  /** Adopts the time of the last scrub, and whether one is due. A scrub that is due here remains due. */
  adoptScrubState(state: ScrubState): Promise<void>
}

export function keyOf({ keyLength }: TransferTable, row: TransferRow): TransferRow {
  return row.slice(0, keyLength)
}
