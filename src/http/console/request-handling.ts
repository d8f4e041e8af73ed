import { formatInstantOrNull } from '../../domain/instant.ts'
import { maxExclusionReasonLength, maxNoteLength } from '../../domain/request-handling.ts'
import {
  addRequestNote,
  assignRequest,
  deleteRequestNote,
  excludeRecord,
  exclusionReasonRule,
  includeRecord,
  noteRule,
} from '../../operations/request-handling.ts'
import { listRequestRecords, type RequestRecord } from '../../operations/request-page.ts'
import { Counts } from '../api/fields.ts'
import { identifier } from '../parameters.ts'
import { defineRoute, organisationView } from '../route.ts'
import { boolean, list, object, optional, orNull, text } from '../schema.ts'
import { Actor, instant, SubjectRef, subjectRefFields } from './fields.ts'
import { changedPage, presentExclusion, RequestPage } from './request-fields.ts'
import { requestPath } from './requests.ts'

/** The first three of its facts are `null` if the retention window hides its data. */
const Record = object(
  {
    ...{ trackerId: text(), subjectId: text() },
    ...{ firstSeenAt: orNull(instant), lastSeenAt: orNull(instant), counts: orNull(Counts) },
    isHidden: boolean(),
    exclusion: orNull(object({ reason: text(), at: instant, by: Actor })),
  },
  { title: 'RequestRecord' },
)

const RequestRecordList = object(
  { records: list(Record), next: orNull(SubjectRef) },
  { title: 'RequestRecordList' },
)

/** The operations count characters; these only limit what they have to read. */
const noteText = text({ maxLength: 2 * maxNoteLength, 'x-rule': noteRule })
const exclusionReason = text({ maxLength: 2 * maxExclusionReasonLength, 'x-rule': exclusionReasonRule })

/** The last record of the page before. IDs are in the body, because URLs are logged by proxies. */
const recordAfter = optional(object(subjectRefFields, { 'x-rule': 'the next of the page before' }))

export const requestHandlingRoutes = [
  defineRoute({
    method: 'POST',
    path: `${requestPath}/assign`,
    access: 'desk',
    body: { memberId: orNull(text(identifier), { 'x-rule': 'the ID of a member, or null' }) },
    bodyNamesNobody: true,
    response: RequestPage,
    handle: (call) =>
      changedPage(call, ({ organisationId }, requestId, origin) =>
        assignRequest(call.services, organisationId, requestId, call.body.memberId, origin),
      ),
  }),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/notes`,
    access: 'desk',
    body: { text: noteText },
    response: RequestPage,
    handle: (call) =>
      changedPage(call, ({ organisationId }, requestId, origin) =>
        addRequestNote(call.services, organisationId, requestId, call.body.text, origin),
      ),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${requestPath}/notes/{noteId}`,
    access: 'desk',
    body: {},
    response: RequestPage,
    handle: (call) =>
      changedPage(call, ({ organisationId }, requestId, origin) =>
        deleteRequestNote(call.services, organisationId, requestId, call.path.noteId, origin),
      ),
  }),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/records`,
    access: 'viewer',
    body: { after: recordAfter },
    response: RequestRecordList,
    async handle(call) {
      const view = organisationView(call)
      const { after = null } = call.body
      const found = await listRequestRecords(call.services, view, call.path.requestId, after)
      return { ...found, records: found.records.map(presentRecord) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/exclude`,
    access: 'desk',
    body: { ...subjectRefFields, reason: exclusionReason },
    response: RequestPage,
    handle(call) {
      const { reason, ...subject } = call.body
      return changedPage(call, (view, requestId, origin) =>
        excludeRecord(call.services, view, requestId, subject, reason, origin),
      )
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/include`,
    access: 'desk',
    body: subjectRefFields,
    response: RequestPage,
    handle: (call) =>
      changedPage(call, (view, requestId, origin) =>
        includeRecord(call.services, view, requestId, call.body, origin),
      ),
  }),
]

function presentRecord({ trackerId, subjectId, visible, exclusion }: RequestRecord) {
  return {
    ...{ trackerId, subjectId, isHidden: visible === null, counts: visible?.counts ?? null },
    firstSeenAt: formatInstantOrNull(visible?.firstSeenAt ?? null),
    lastSeenAt: formatInstantOrNull(visible?.lastSeenAt ?? null),
    exclusion: exclusion && presentExclusion(exclusion),
  }
}
