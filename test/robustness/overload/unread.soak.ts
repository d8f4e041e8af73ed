import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { missing } from '../../support/missing.ts'
import { requestText } from '../../support/raw-http.ts'
import { eventRow } from '../../support/rows.ts'
import { anHourAgo, startShop, subjectPath } from '../../support/shop.ts'
import { AbusiveClients } from './overload-tests.ts'

it('a connection is closed if no byte of an answer is read for half a minute', async (t) => {
  const shop = await startShop(t, { scopes: ['analytics:view'] })
  // More than the system buffers for a client that does not read.
  const properties = { text: 'x'.repeat(60_000) }
  const rows = Array.from({ length: 20 }, (_, number) =>
    eventRow({ subjectId: 'anna', eventId: `e${number}`, occurredAt: anHourAgo + number, properties }),
  )
  await shop.ingest(rows)
  const clients = new AbusiveClients(t, shop.url)
  const startedAt = performance.now()
  const page = requestText(`${subjectPath('anna')}/events?limit=200`, { key: shop.key })
  await clients.connect(1, page.repeat(20), { reads: false })
  const isClosed = () => shop.logged.some((line) => line.includes('"hungUp":true'))
  while (!isClosed() && performance.now() - startedAt < 90_000) await delay(500)
  const seconds = (performance.now() - startedAt) / 1_000
  assert.ok(isClosed())
  assert.ok(seconds > 25, `after ${seconds} s`)
  t.diagnostic(`closed after ${seconds.toFixed(0)} s`)
})

/**
 * Reads 500 bytes ten times a second for 80 seconds, then the rest. The small receive buffer prevents the
 * system from reading ahead.
 */
const slowReader = `
import socket, sys, time
host, port, path, key = sys.argv[1:]
client = socket.socket()
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
client.connect((host, int(port)))
client.sendall(f"GET {path} HTTP/1.0\\r\\nHost: x\\r\\nAuthorization: Bearer {key}\\r\\n\\r\\n".encode())
until = time.monotonic() + 80
while True:
    piece = client.recv(500 if time.monotonic() < until else 65536)
    if not piece: break
    sys.stdout.buffer.write(piece)
    if time.monotonic() < until: time.sleep(0.1)
`

it('an export read at 5 kB/s is complete', { skip: missing('python3') }, async (t) => {
  const shop = await startShop(t, { scopes: ['analytics:view'] })
  // More than the system buffers for a slow client.
  const properties = { text: 'x'.repeat(30_000) }
  const rows = Array.from({ length: 400 }, (_, number) =>
    eventRow({ subjectId: 'anna', eventId: `e${number}`, occurredAt: anHourAgo + number, properties }),
  )
  await shop.ingest(rows)
  const { hostname, port } = new URL(shop.url)
  const args = ['-c', slowReader, hostname, port, `${subjectPath('anna')}/export`, shop.key]
  const child = spawn('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const answer = Buffer.concat(await child.stdout.toArray()).toString()
  const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
  assert.equal(body.data.events.length, rows.length)
})
