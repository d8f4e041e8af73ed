import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runMaintenance } from '../../../src/maintenance/maintenance.ts'
import { dataOf, errorOf, isObject } from '../../support/answers.ts'
import { startShop, subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'

const scopes = ['analytics:view', 'analytics:delete-data'] as const
const dayMs = 86_400_000

describe('a clock that jumps', () => {
  it('back blocks no budget for longer than its window, and fails no request', async (t) => {
    const shop = await startShop(t, { scopes, env: { LETHE_LIMIT_KEY: '2/minute' } })
    await shop.ingest(visit('anna'))
    const { key } = shop
    const ask = () => shop.ask(subjectPath('anna'), { key })
    dataOf(await ask())
    dataOf(await ask())
    errorOf(await ask(), 'rate_limited')
    shop.passTime(-10 * dayMs)
    const retried = await ask()
    assert.ok(retried.status === 200 || Number(retried.headers.get('retry-after')) <= 60)
  })

  it('ahead hides what has aged out by it, and shows it again once the clock is right', async (t) => {
    const shop = await startShop(t, { scopes, env: { LETHE_SWEEP_SECONDS: '1' } })
    await shop.ingest(visit('anna'))
    const { key } = shop
    dataOf(await shop.ask(subjectPath('anna'), { key }))
    shop.passTime(400 * dayMs)
    errorOf(await shop.ask(subjectPath('anna'), { key }), 'not_found')
    const isDoubted = (line: string) => line.includes('the clock has jumped')
    await until(() => shop.logged.some(isDoubted))
    shop.passTime(-400 * dayMs)
    dataOf(await shop.ask(subjectPath('anna'), { key }))
    const [line] = shop.logged.filter(isDoubted).map((text): unknown => JSON.parse(text))
    assert.ok(isObject(line))
    assert.deepEqual([line.level, line.aheadSeconds], [50, 400 * 86_400])
  })

  it('is trusted after a day: what has aged out is then swept', async (t) => {
    const shop = await startShop(t, { scopes, env: { LETHE_SWEEP_SECONDS: '86400' } })
    await shop.ingest(visit('anna'))
    let [clock, passed] = [Date.now(), 0]
    const swept: number[] = []
    const jumps: number[] = []
    const maintenance = runMaintenance(
      { ...shop.services, clock: () => clock, passedMs: () => passed },
      { sweepSeconds: 0.001, scrubHour: 'off' },
      {
        onSwept: ({ swept: { subjects } }) => swept.push(subjects),
        onWaitingWindows() {},
        onScrubbed() {},
        onClockJumped: (aheadMs) => jumps.push(aheadMs),
        onError: assert.ifError,
      },
    )
    await until(() => swept.length > 2)
    clock += 400 * dayMs
    await until(() => jumps.length === 1)
    clock += dayMs - 1
    passed += dayMs - 1
    await shop.ask('/healthz')
    // A pass that started before the jump may still end, without deletions.
    assert.ok(!swept.includes(1))
    clock += 2
    passed += 2
    await until(() => swept.includes(1))
    assert.deepEqual(jumps, [400 * dayMs])
    // Before the store is closed.
    await maintenance.stop()
  })
})
