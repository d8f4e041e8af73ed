import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { importLines, type LineBlock, maxBatchRows } from '../../../src/operations/import.ts'
import { addTracker, openDeps } from '../fixture.ts'

const { deps, fresh } = openDeps()
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

it('an import keeps no row of a batch that it has handed over, whatever time passed while it was read', async (t) => {
  const { trackerId } = await addTracker(deps(), fresh('tracker'))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lineOf = (eventId: number) =>
    JSON.stringify({
      type: 'event',
      ...{ trackerId, subjectId: 'anna', sessionId: 's1', eventId: `e${eventId}` },
      ...{ name: 'pageview', occurredAt: '2026-11-01T10:00:00Z' },
    })
  const lines = Array.from({ length: maxBatchRows }, (_, i) => lineOf(i))
  const handedOver: WeakRef<readonly IncomingRow[]>[] = []
  const ingest = {
    ...deps().ingest,
    async ingest(batch: readonly IncomingRow[]) {
      handedOver.push(new WeakRef(batch))
      return { subjects: 0, sessions: 0, events: 0 }
    },
  }
  async function* blocks(): AsyncGenerator<LineBlock> {
    yield { source: 'visits', firstNumber: 1, lines: lines.slice(0, 1) }
    t.mock.timers.tick(500)
    await setImmediate()
    yield { source: 'visits', firstNumber: 2, lines: lines.slice(1) }
    await setImmediate()
    collectGarbage()
    assert.deepEqual(
      handedOver.map((batch) => batch.deref()?.length),
      [undefined],
    )
  }
  const importing = { ...deps(), ingest }
  const { rows } = await importLines(importing, blocks(), { onBadLine: assert.fail })
  assert.equal(rows, maxBatchRows)
})
