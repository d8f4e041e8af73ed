import type { ActivityNote, ErasureFacts, SubjectCounts } from '../../domain/activity.ts'
import { formatRecord } from '../../domain/ledger-record.ts'
import type { RequestItemRef } from '../../domain/privacy-request.ts'
import type { ErasedSubject, ErasureMark } from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import type { LockedLedger } from '../nouns/ledger.ts'
import type { NamedValues } from '../nouns/statement.ts'

/** A request to erase a subject. */
export interface SubjectErasure {
  view: TrackerView
  subjectId: string
  mark: ErasureMark
  note?: ActivityNote | undefined
  /** Erase only while this item waits. */
  item?: RequestItemRef | undefined
}

/**
 * What an erasure leaves behind: its ledger entry, its tombstone, and the facts for the activity and the
 * receipt.
 */
interface ErasureRecords {
  entry: NamedValues
  tombstone: NamedValues
  facts: ErasureFacts
  /** Call it after all entries of the transaction were appended. */
  prove(): ErasedSubject
}

/** Appends to the ledger's tree and returns the rows to insert. */
export function erasureRecords(
  ledger: LockedLedger,
  { view, mark }: SubjectErasure,
  counts: SubjectCounts,
  refusedUntil: number,
): ErasureRecords {
  const { trackerId, organisationId } = view
  const { erasedAt, digest, commitment } = mark
  const alreadyErased = counts.sessions === 0 && counts.events === 0
  const record = formatRecord({ version: 1, alreadyErased, counts, erasedAt, subject: commitment, trackerId })
  const entry = ledger.append(record)
  const { ledgerIndex } = entry
  return {
    entry,
    tombstone: { organisationId, trackerId, digest, erasedAt, refusedUntil, ledgerIndex },
    facts: { counts, ledgerIndex },
    prove: () => ({ counts, record, proof: ledger.tree.prove(ledgerIndex), refusedUntil }),
  }
}
