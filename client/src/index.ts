export type {
  AddedCounts,
  CertifiedAbsence,
  CertifiedErasure,
  Consistency,
  Counts,
  EntryList,
  Erasure,
  Event,
  EventList,
  FieldProblem,
  FoundSubject,
  FoundSubjectList,
  Identifier,
  Ledger,
  LedgerEntry,
  ListEntriesQuery,
  ListEventsQuery,
  ListReceiptsQuery,
  ListRequestsQuery,
  ListSessionsQuery,
  ListSubjectsQuery,
  Person,
  PrivacyRequest,
  PrivacyRequestList,
  Receipt,
  ReceiptList,
  RefusedLine,
  RequestCertificate,
  RequestCounts,
  Session,
  SessionList,
  Subject,
  SubjectList,
  SubjectRef,
  SubjectSummary,
} from './api.ts'
export type { EraseManyOptions, EraseManyOutcome, EraseManyProgress } from './erase-many.ts'
export type { ErasureReport } from './erasure-report.ts'
export {
  ApiError,
  ClientError,
  ConnectionError,
  type ErrorCode,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts'
export { isIdentifier } from './identifier.ts'
export type { IngestReport } from './ingest.ts'
export {
  type EventLine,
  type IngestLine,
  maxBatchBytes,
  maxBatchLines,
  type SessionLine,
} from './ingest-line.ts'
export type { ErasureRecord, LedgerRecord, NothingHeldRecord } from './ledger-record.ts'
export { LetheClient } from './lethe-client.ts'
export type { Listing } from './listing.ts'
export type { NewRequest, PersonRef } from './new-request.ts'
export type { PersonExport, Sought } from './person.ts'
export type { RetryPolicy } from './repeat.ts'
export type { Requests } from './requests.ts'
export { type Runtime, systemRuntime } from './runtime.ts'
export type { Sender } from './sender.ts'
export type {
  DroppedLines,
  RefusedLines,
  SenderCounts,
  SenderOptions,
  TrackedEvent,
  TrackedSession,
} from './sender-options.ts'
export type { ExportEntry, SubjectExport } from './subject-export.ts'
export type { CallOptions, LetheClientOptions } from './transport.ts'
export { type JsonValue, type VariableType, VariableTypeError } from './variable-type.ts'
export type { Variables, VariablesChange, VariablesOptions } from './variables.ts'
export { VerificationError, type VerificationFailure } from './verification-error.ts'
export {
  type CheckpointOptions,
  type TreeHead,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from './verify-checkpoint.ts'
export { type ConsistencyClaim, type VerifiedConsistency, verifyConsistency } from './verify-consistency.ts'
export { type ReceiptOptions, type VerifiedReceipt, verifyReceipt } from './verify-receipt.ts'
export type { WaitOptions } from './wait-for-request.ts'
