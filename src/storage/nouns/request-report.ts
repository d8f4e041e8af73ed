import { requestKinds, requestStates } from '../../domain/privacy-request.ts'
import type { ReceivedPosition, ReportedRequest, RequestReportStore } from '../../domain/request-report.ts'
import { toPage } from '../rules/page.ts'
import type { Engine } from './engine.ts'
import { integer, integerOrNull, known, type Row, text } from './row.ts'
import { statement } from './statement.ts'

// An index has all of its columns.
const received = statement(
  `SELECT id, kind, state, received_at, due_at, closed_at FROM privacy_requests
   WHERE organisation_id = :organisationId AND (received_at, id) > (:at, :id) AND received_at < :to
   ORDER BY received_at, id LIMIT :count`,
)
const countDue = statement(
  `SELECT count(*) FILTER (WHERE due_at < :today) AS overdue, count(*) FILTER (WHERE due_at >= :today) AS soon
   FROM privacy_requests WHERE closed_at IS NULL AND due_at < :until`,
)

export function requestReportStore(engine: Engine): RequestReportStore {
  return {
    async received(organisationId, { from, to, after, limit }) {
      const { receivedAt: at, id } = after ?? { receivedAt: from, id: '' }
      const rows = await engine.read(received, { organisationId, at, id, to, count: limit + 1 })
      return toPage(
        rows.map(toReportedRequest),
        limit,
        ({ receivedAt, id }): ReceivedPosition => ({ receivedAt, id }),
      )
    },
    async countDue(today, until) {
      const [row = {}] = await engine.readLong(countDue, { today, until })
      return { overdue: integer(row, 'overdue'), soon: integer(row, 'soon') }
    },
  }
}

function toReportedRequest(row: Row): ReportedRequest {
  return {
    id: text(row, 'id'),
    kind: known(requestKinds, row.kind, 'a request of a kind'),
    state: known(requestStates, row.state, 'a request in a state'),
    receivedAt: integer(row, 'received_at'),
    dueAt: integer(row, 'due_at'),
    closedAt: integerOrNull(row, 'closed_at'),
  }
}
