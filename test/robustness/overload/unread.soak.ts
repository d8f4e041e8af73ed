import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { requestText } from '../../support/raw-http.ts'
import { eventRow } from '../../support/rows.ts'
import { anHourAgo, startShop, subjectPath } from '../../support/shop.ts'
import { AbusiveClients } from './abusive-clients.ts'

it('a connection on which no byte of an answer is read for a minute is closed', async (t) => {
  const shop = await startShop(t, { scopes: ['analytics:view'] })
  // More than the system keeps for a reader who does not come.
  const properties = { text: 'x'.repeat(60_000) }
  const rows = Array.from({ length: 20 }, (_, number) =>
    eventRow({ subjectId: 'anna', eventId: `e${number}`, occurredAt: anHourAgo + number, properties }),
  )
  await shop.ingest(rows)
  const clients = new AbusiveClients(t, shop.url)
  const startedAt = performance.now()
  const request = requestText(`${subjectPath('anna')}/events?limit=200`, { key: shop.key })
  await clients.come(1, request.repeat(20), { reads: false })
  const isClosed = () => shop.logged.some((line) => line.includes('"hungUp":true'))
  while (!isClosed() && performance.now() - startedAt < 90_000) await delay(500)
  const seconds = (performance.now() - startedAt) / 1_000
  assert.ok(isClosed())
  assert.ok(seconds > 25, `after ${seconds} s`)
  t.diagnostic(`closed after ${seconds.toFixed(0)} s`)
})
