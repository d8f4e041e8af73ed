import assert from 'node:assert/strict'
import { it } from 'node:test'
import { event, ndjson, withShop, write } from '../support/import-shop.ts'
import { peakOf } from '../support/peak-memory.ts'

it('the memory of lethe import is the same for 10 MB and for 40 MB that are stored', async (t) => {
  const cli = await withShop(t)
  const visit = (number: number) =>
    event({
      subjectId: `visitor-${number % 9_973}`,
      sessionId: `session-${Math.floor(number / 4)}`,
      eventId: `event-${number}`,
      properties: { url: `https://shop.example/products/${number % 977}`, title: 'A page of the shop' },
    })
  const visits = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ndjson(visit(from + i))).join('')
  const small = await peakOf(cli, [write(cli, 'small', visits(0, 40_000))])
  const large = await peakOf(cli, [write(cli, 'large', visits(40_000, 160_000))])
  assert.partialDeepStrictEqual(JSON.parse(large.outcome.stdout), { badLines: 0, events: 160_000 })
  assert.ok(large.peak < small.peak * 1.25, `${small.peak} MB, then ${large.peak} MB`)
})
