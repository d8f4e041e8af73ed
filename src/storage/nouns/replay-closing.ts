import type { JournalledClosing } from '../../domain/closed-request.ts'
import type { Instant } from '../../domain/instant.ts'
import type { PrivacyRequestRef, RequestItem } from '../../domain/privacy-request.ts'
import { actorParameters } from './activity.ts'
import type { Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import {
  foundParameters,
  insertPerson,
  ownItems,
  removeExclusions,
  removeNotes,
  sharesItsReference,
} from './privacy-request.ts'
import { insertExclusion } from './request-handling.ts'
import { integer, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const own = 'organisation_id = :organisationId AND id = :id'

const lockState = statement(`SELECT state, created_at FROM privacy_requests WHERE ${own} FOR UPDATE`)
const insertClosed = statement(
  `INSERT INTO privacy_requests (organisation_id, id, kind, state, reference, received_at, due_at, closed_at, names_identifiers,
     content_digest, created_at, creator_kind, creator_id, creator_name, found_subjects, found_sessions, found_events, erased_subjects,
     erased_sessions, erased_events, searches, held_identifiers, runs_at, list_line, shares_reference)
   VALUES (:organisationId, :id, :kind, :state, :reference, :receivedAt, :dueAt, :at, :namesIdentifiers,
     :contentDigest, :createdAt, :actorKind, :actorId, :actorName, 0, 0, 0, 0, 0, 0, 0, '[]', 0, :listLine, :sharesReference)`,
)
const closeAs = statement(
  `UPDATE privacy_requests SET state = :state, closed_at = :at, due_at = :dueAt, extended_at = :extendedAt,
     extension_reason = :extensionReason, rejection_reason = :rejectionReason, actor_kind = :actorKind, actor_id = :actorId,
     actor_name = :actorName, request_id = :requestId, found_subjects = :foundSubjects, found_sessions = :foundSessions,
     found_events = :foundEvents, erased_subjects = :subjects, erased_sessions = :sessions, erased_events = :events,
     left_subjects = :left, assignee_id = :assigneeId, holder = NULL, resumes_at = NULL, person = NULL
   WHERE ${own}`,
)
const removeItems = statement(`DELETE FROM privacy_request_items WHERE ${ownItems}`)
const insertItem = statement(
  `INSERT INTO privacy_request_items (organisation_id, request_id, place, outcome, tracker_id, held, identifier, ledger_index,
     sealed_nonce)
   VALUES (:organisationId, :id, :position, :outcome, :trackerId, :held, :identifier, :ledgerIndex, :sealedNonce)`,
)
const nobody = { actorKind: null, actorId: null, actorName: null }

export const replayClosingTransactions = {
  async replayClosing(run: Run, lines: readonly JournalledClosing[], keptSince: Instant): Promise<boolean> {
    const [closing] = lines
    if (!closing || !(await lockOrganisation(run, closing.organisationId))) return false
    const { organisationId, id, at, request } = closing
    const ref = { organisationId, id }
    const [row] = (await run(lockState, ref)).rows
    // The row may be a later request's, which has the ID of one that was swept.
    const isOpen =
      row !== undefined &&
      ['open', 'running'].includes(text(row, 'state')) &&
      integer(row, 'created_at') === request.createdAt
    if (!isOpen && (row !== undefined || at < keptSince)) return false
    if (!isOpen) {
      const namesIdentifiers = request.namesIdentifiers ? 1 : 0
      const creator = actorParameters(request.createdBy)
      const sharesReference = (await sharesItsReference(run, { ...request, organisationId })) ? 1 : 0
      await run(insertClosed, { ...ref, ...request, ...creator, namesIdentifiers, sharesReference, at })
    }
    const { receivedAt, startedBy, found, erased } = request
    for (const digest of request.personDigests) await run(insertPerson, { ...ref, receivedAt, digest })
    const starter = startedBy === null ? nobody : actorParameters(startedBy)
    await run(closeAs, { ...ref, ...request, ...starter, ...foundParameters(found), ...erased, at })
    await run(removeItems, ref)
    await run(removeNotes, ref)
    await replaceExclusions(run, ref, lines)
    const items = lines.flatMap(({ items }) => items)
    for (const item of items) await run(insertItem, { ...ref, ...itemParameters(item) })
    noteDeletion(run)
    return true
  },
}

/** Keeps those of the store if the journal was written by a version that did not write them. */
async function replaceExclusions(
  run: Run,
  ref: PrivacyRequestRef,
  lines: readonly JournalledClosing[],
): Promise<void> {
  if (lines.every(({ exclusions }) => exclusions === null)) return
  await run(removeExclusions, { ...ref })
  for (const { by, ...exclusion } of lines.flatMap(({ exclusions }) => exclusions ?? []))
    await run(insertExclusion, { ...ref, ...exclusion, ...actorParameters(by) })
}

function itemParameters({ entry, ...item }: RequestItem) {
  const { ledgerIndex, sealedNonce } = entry ?? { ledgerIndex: null, sealedNonce: null }
  // What was counted is part of the request by now.
  return { ...item, held: item.outcome === 'erased' ? 1 : 0, ledgerIndex, sealedNonce }
}
