import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { SubjectExport } from '../../operations/subject/export-subject.ts'
import { presentEvent } from '../api/routes/events.ts'
import { presentSession } from '../api/routes/sessions.ts'
import { presentRecord } from '../api/routes/subjects.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Sends the export of a subject as a file, page by page as fast as the browser takes it. Should it come to nothing half way, the
 * connection breaks off, so that no half of an export passes for a whole one.
 */
export async function sendExport(
  { id, request, response }: RequestContext,
  trackerId: string,
  subject: SubjectExport,
): Promise<void> {
  response.writeHead(200, {
    'X-Request-Id': id,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': 'attachment; filename="data-subject.json"',
    // Its headers are gone long before its end; a server that is to stop by then need not wait for the connection.
    Connection: 'close',
  })
  if (request.method === 'HEAD') response.end()
  else await pipeline(Readable.from(toJson(trackerId, subject)), response).catch(() => {})
}

/** The export as pieces of one JSON object: the record's fields, then the two lists. */
async function* toJson(
  trackerId: string,
  { record, sessions, events }: SubjectExport,
): AsyncGenerator<string> {
  yield JSON.stringify(presentRecord(trackerId, record)).slice(0, -1)
  yield* listToJson('sessions', sessions, presentSession)
  yield* listToJson('events', events, presentEvent)
  yield '}\n'
}

async function* listToJson<Row>(
  name: string,
  pages: AsyncIterable<Row[]>,
  present: (row: Row) => unknown,
): AsyncGenerator<string> {
  let separator = `,"${name}":[`
  for await (const rows of pages) {
    yield separator + rows.map((row) => JSON.stringify(present(row))).join(',')
    separator = ','
  }
  yield ']'
}
