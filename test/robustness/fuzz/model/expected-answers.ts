import type { Event, Session } from '../../../../src/domain/session.ts'
import type { SubjectSort, SubjectSummary } from '../../../../src/domain/subject.ts'
import { byCodePoints, type WholeSubject } from '../../../storage/contract/fixture.ts'

/** How a client asks for a list of subjects; the bounds are instants. */
export interface ListQuestion {
  sort: SubjectSort | null
  prefix: string | null
  after: number | null
  before: number | null
}

/** The rows a list of subjects must have, from the first page to the last; `null` for what does not go together. */
export function expectedList(all: readonly WholeSubject[], { sort, prefix, after, before }: ListQuestion) {
  const isBounded = after !== null || before !== null
  const order = sort ?? (isBounded ? 'lastSeenAt' : 'subjectId')
  if (order === 'subjectId' ? isBounded : prefix !== null) return null
  const rows = all
    .map(({ record }) => record)
    .filter(({ subjectId }) => prefix === null || subjectId.startsWith(prefix))
    .filter(
      ({ lastSeenAt }) => (after === null || lastSeenAt >= after) && (before === null || lastSeenAt < before),
    )
  const byId = (a: SubjectSummary, b: SubjectSummary) => byCodePoints(a.subjectId, b.subjectId)
  if (order === 'subjectId') rows.sort(byId)
  else rows.sort((a, b) => a.lastSeenAt - b.lastSeenAt || byId(a, b))
  if (order === '-lastSeenAt') rows.reverse()
  return rows.map(summary)
}

export function summary({ subjectId, firstSeenAt, lastSeenAt, counts }: SubjectSummary) {
  return { subjectId, firstSeenAt: iso(firstSeenAt), lastSeenAt: iso(lastSeenAt), counts }
}

export function expectedRecord(trackerId: string, { record }: WholeSubject) {
  const { identifiers, attributes } = record
  return { trackerId, ...summary(record), identifiers, attributes }
}

export function expectedSession({ startedAt, endedAt, ...rest }: Session) {
  return { ...rest, startedAt: iso(startedAt), endedAt: iso(endedAt) }
}

export function expectedEvent({ occurredAt, ...rest }: Event) {
  return { ...rest, occurredAt: iso(occurredAt) }
}

export function iso(instant: number): string {
  return new Date(instant).toISOString()
}
