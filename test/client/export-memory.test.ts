import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { LetheClient } from '@lethe/client'
import { heapUsed } from '../support/collect-garbage.ts'
import { listen } from '../support/listen.ts'

const event = (number: number) => ({
  ...{ eventId: `e${number}`, sessionId: 's', name: 'pageview', occurredAt: '2026-11-15T12:00:00.000Z' },
  properties: { url: `https://shop.example/${number}`, text: 'x'.repeat(2_400) },
})
const events = Array.from({ length: 50 }, (_, number) => event(number))
const record = {
  ...{ trackerId: 'shop', subjectId: 'busy', firstSeenAt: 't', lastSeenAt: 't', attributes: {} },
  ...{ counts: { sessions: 0, events: 0 }, identifiers: [] },
}

test('an export keeps no data that its caller has consumed', async (t) => {
  let pages = 0
  /** The response of the service, generated as it is read. */
  function* answer() {
    yield `{"data":${JSON.stringify(record).slice(0, -1)},"sessions":[],"events":[`
    for (; pages < 120; pages++) {
      yield `${pages > 0 ? ',' : ''}${events.map((each) => JSON.stringify(each)).join(',')}`
    }
    yield ']},"meta":{"requestId":"r","timestamp":"2026-11-15T12:00:00.000Z"}}'
  }
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    Readable.from(answer()).pipe(response)
  })
  const port = await listen(server)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = new LetheClient({ url: `http://127.0.0.1:${port}`, apiKey: 'x' })
  const { signal } = new AbortController()
  let bytes = 0
  const heaps: number[] = []
  for await (const piece of client.exportSubject('shop', 'busy', { signal }).json()) {
    bytes += piece.length
    if (pages < 12 * (heaps.length + 1)) continue
    heaps.push(heapUsed() / 1e6)
  }
  const [first = 0] = heaps
  const last = heaps.at(-1) ?? 0
  assert.ok(bytes > 12e6, `${bytes} bytes`)
  assert.ok(last < first + 5, `${first.toFixed(1)} MB, then ${last.toFixed(1)} MB`)
  t.diagnostic(
    `${heaps.map((heap) => heap.toFixed(1)).join(', ')} MB while ${Math.round(bytes / 1e6)} MB went by`,
  )
})
