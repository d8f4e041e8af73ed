import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { it } from 'node:test'
import { event, ndjson, withShop, write } from '../support/import-shop.ts'
import { peakOf } from '../support/peak-memory.ts'

const linesPerWrite = 10_000

it('lethe import needs the same memory to store 40 MB and 120 MB', async (t) => {
  const cli = await withShop(t)
  const visit = (number: number) =>
    event({
      subjectId: `visitor-${number % 9_973}`,
      sessionId: `session-${Math.floor(number / 4)}`,
      eventId: `event-${number}`,
      properties: { url: `https://shop.example/products/${number % 977}`, title: 'A page of the shop' },
    })
  function visits(name: string, from: number, count: number): string {
    const path = write(cli, name, '')
    for (let first = from; first < from + count; first += linesPerWrite) {
      appendFileSync(path, ndjson(...Array.from({ length: linesPerWrite }, (_, i) => visit(first + i))))
    }
    return path
  }
  const one = await peakOf(cli, [write(cli, 'one', ndjson(event()))])
  // Both fill batches of the largest size.
  const small = await peakOf(cli, [visits('small', 0, 160_000)])
  const large = await peakOf(cli, [visits('large', 160_000, 480_000)])
  const peaks = [one, small, large].map(({ peak }) => `${peak.toFixed()} MB`).join(', ')
  t.diagnostic(peaks)
  assert.partialDeepStrictEqual(JSON.parse(large.outcome.stdout), { badLines: 0, events: 480_000 })
  assert.ok(large.peak < small.peak * 1.12, peaks)
  assert.ok(large.peak < one.peak + 128, peaks)
})
