import type { ActivityNote, ErasureFacts, SubjectCounts } from '../../domain/activity.ts'
import type { BatchItemRef } from '../../domain/erasure-batch.ts'
import { formatRecord } from '../../domain/receipt.ts'
import type { ErasedSubject, ErasureMark } from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import type { LockedLedger } from '../nouns/ledger.ts'
import type { NamedValues } from '../nouns/statement.ts'

/** What is asked of a store when a subject is to be erased. */
export interface SubjectErasure {
  view: TrackerView
  subjectId: string
  mark: ErasureMark
  note?: ActivityNote | undefined
  /** It is done only while this item waits. */
  item?: BatchItemRef | undefined
}

/** What an erasure leaves behind: its entry in the ledger, its tombstone, and what else is told of it. */
interface ErasureRecords {
  entry: NamedValues
  tombstone: NamedValues
  facts: ErasureFacts
  /** To be called when the ledger has all entries of the transaction. */
  prove(): ErasedSubject
}

/** Appends to the ledger's tree, and hands back what is to be inserted. */
export function erasureRecords(
  ledger: LockedLedger,
  { view, mark }: SubjectErasure,
  counts: SubjectCounts,
  refusedUntil: number,
): ErasureRecords {
  const { trackerId, organisationId } = view
  const { erasedAt, digest, commitment } = mark
  const alreadyErased = counts.sessions === 0 && counts.events === 0
  const record = formatRecord({ alreadyErased, counts, erasedAt, subject: commitment, trackerId })
  const entry = ledger.append(record)
  const { ledgerIndex } = entry
  return {
    entry,
    tombstone: { organisationId, trackerId, digest, erasedAt, refusedUntil, ledgerIndex },
    facts: { counts, ledgerIndex },
    prove: () => ({ counts, record, proof: ledger.tree.prove(ledgerIndex), refusedUntil }),
  }
}
