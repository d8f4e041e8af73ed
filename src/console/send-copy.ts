import { once } from 'node:events'
import type { Visit } from '../http/request-way.ts'
import { presentEvent } from '../http/routes/events.ts'
import { presentSession } from '../http/routes/sessions.ts'
import { presentSummary } from '../http/routes/subjects.ts'
import type { SubjectCopy } from '../operations/copy-subject.ts'

/**
 * Sends the complete copy of a subject as a file, page by page as fast as the browser takes it. Should it come to nothing half way, the
 * connection breaks off, so that no half of a copy passes for a whole one.
 */
export async function sendCopy(
  { id, request, response }: Visit,
  trackerId: string,
  copy: SubjectCopy,
): Promise<void> {
  const { record } = copy
  response.writeHead(200, {
    'X-Request-Id': id,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': 'attachment; filename="data-subject.json"',
    // Its headers are gone long before its end; a server that is to stop by then need not wait for the connection.
    Connection: 'close',
  })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  async function write(text: string): Promise<void> {
    if (response.destroyed) throw new Error('The browser hung up.')
    if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  try {
    const head = { trackerId, ...presentSummary(record), attributes: record.attributes }
    await write(JSON.stringify(head).slice(0, -1))
    await writeList('sessions', copy.sessions, presentSession)
    await writeList('events', copy.events, presentEvent)
    response.end('}\n')
  } catch {
    response.destroy()
  }

  async function writeList<Row>(name: string, pages: AsyncIterable<Row[]>, present: (row: Row) => unknown) {
    let separator = `,"${name}":[`
    for await (const rows of pages) {
      await write(separator + rows.map((row) => JSON.stringify(present(row))).join(','))
      separator = ','
    }
    await write(']')
  }
}
