import { commandLine, type Origin, type SubjectCounts } from '../domain/activity.ts'
import { notFound } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import { type Keyring, subjectCommitment } from '../domain/keyring.ts'
import type { TreeHead } from '../domain/merkle-tree.ts'
import type { RequestItemRef } from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import { formatReceipt } from '../domain/receipt.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'

export interface Erasure {
  /** The subject held no data: erased before, aged out, or never seen. */
  alreadyErased: boolean
  /** What this request deleted. */
  counts: SubjectCounts
  erasedAt: Instant
  /** The index of its ledger entry, from 0. */
  ledgerIndex: number
  receipt: string
}

/**
 * Idempotent. Throws `not_found` if the tracker is not visible, and `NotWaiting` if `item` no longer waits.
 * If the journal cannot be written, it rejects although the subject is erased.
 */
export async function eraseSubject(
  deps: {
    subjects: SubjectStore
    clock: Clock
    randomness: Randomness
    keyring: Keyring
    journal?: Journal | undefined
  },
  tracker: TrackerView,
  subjectId: string,
  origin: Origin = commandLine,
  item?: RequestItemRef,
): Promise<Erasure> {
  const { keyring } = deps
  const { organisationId, trackerId } = tracker
  const minEntries = (await deps.journal?.entryCount(organisationId)) ?? 0
  const what = { organisationId, kind: 'subject.erased', target: trackerId } as const
  const note = activityNote(deps, origin, what)
  const erasedAt = deps.clock()
  const nonce = keyring.nonce(trackerId, subjectId, erasedAt)
  const commitment = subjectCommitment(nonce, trackerId, subjectId)
  const [digest] = keyring.tombstoneDigests(trackerId, subjectId)
  const mark = {
    ...{ erasedAt, digest, commitment, guard: { headKeys: keyring.headKeys, minEntries } },
    // Computed only if a request waits for this subject.
    get sealedNonce() {
      return keyring.sealNonce(nonce, commitment)
    },
  }
  // Checkpoints are cached.
  const sign = (head: TreeHead) => keyring.signCheckpoint(organisationId, head)
  const erasing = deps.subjects.erase(tracker, subjectId, mark, note, { onHead: sign, item })
  const erased = await erasing.catch(async (error) => {
    await deps.journal?.checkLedger(organisationId)
    throw error
  })
  if (erased === null) throw notFound('This tracker')
  const { counts, record, proof, refusedUntil } = erased
  const entry = { kind: 'erasure', organisationId, index: proof.index, record, at: erasedAt } as const
  await deps.journal?.append([{ ...entry, tombstone: { trackerId, digest, refusedUntil } }])
  const receipt = formatReceipt({ nonce, record }, proof, sign(proof.head))
  const alreadyErased = counts.sessions === 0 && counts.events === 0
  return { alreadyErased, counts, erasedAt, ledgerIndex: proof.index, receipt }
}
