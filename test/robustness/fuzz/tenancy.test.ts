import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { encodeCursor } from '../../../src/domain/page.ts'
import { revokeKey } from '../../../src/operations/api-key.ts'
import { dataOf } from '../../support/answers.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { startTestService } from '../../support/service.ts'
import { visit } from '../../support/shop.ts'
import { Wire } from './model/wire.ts'
import { apiOperations } from './requests/operations.ts'
import { compareTimes, rawAnswers } from './tenancy/raw-answers.ts'

// The store does not decide who is refused; PostgreSQL, which is slower, gets fewer cases.
const isPostgres = process.env.LETHE_TEST_STORE === 'postgres'
const service = await startTestService({ after }, { LETHE_LOG_LEVEL: 'silent' })
const [own, rival, third] = [
  await service.createOrganisation(),
  await service.createOrganisation(),
  await service.createOrganisation(),
]
await service.createTracker(own, 'shop')
const foreign = await service.createTracker(rival, 'rivals-shop')
const missing = 'nobodys-one'
// Much data, so that a refusal that read it first would take longer.
const crowd = Array.from({ length: 500 }, (_, number) =>
  visit(`visitor-${number}`, { trackerId: foreign }),
).flat()
await service.ingest([
  ...crowd,
  ...visit('anna', { trackerId: foreign, events: 800 }),
  ...visit('anna', { events: 800 }),
])

const full = (await service.createKey(own)).keyString
const rivalKey = (await service.createKey(rival)).keyString
const revoked = await service.createKey(own)
await revokeKey(service.services, revoked.key.id, revoked.key.name)
const expired = await service.createKey(own, undefined, Date.now() + 60_000)
service.passTime(60_000)
/** Keys that are accepted. */
const accepted: [who: string, authorization: string | null][] = [
  ['a key with every scope', `Bearer ${full}`],
  ['a key that may view', `Bearer ${(await service.createKey(own, ['analytics:view'])).keyString}`],
  ['a key that may erase', `Bearer ${(await service.createKey(own, ['analytics:delete-data'])).keyString}`],
  ['a key that may collect', `Bearer ${(await service.createKey(own, ['analytics:collect'])).keyString}`],
  ['a key of a third organisation', `Bearer ${(await service.createKey(third)).keyString}`],
]
const refused: typeof accepted = [
  ['a revoked key', `Bearer ${revoked.keyString}`],
  ['an expired key', `Bearer ${expired.keyString}`],
  ['a damaged key of its owner', `Bearer ${rivalKey.slice(0, -1)}!`],
  ['something else', 'Basic cml2YWw6cml2YWw='],
  ['no key', null],
]
/** A cursor contains the tracker's ID and no secret, so anyone can make one for any tracker. */
const cursor = (trackerId: string) =>
  encodeCursor(['subjects', trackerId, 'subjectId', null, null, null], 0, 'anna')
const queries: ((trackerId: string) => string)[] = [
  ...['', '?limit=1', '?limit=0', '?sort=-lastSeenAt', '?sessionId=s1', '?cursor=x'].map(
    (query) => () => query,
  ),
  (trackerId) => `?cursor=${cursor(trackerId)}`,
]
const addressed = apiOperations.filter(({ path }) => path.includes('{trackerId}'))

function fill(path: string, trackerId: string, subjectId: string): string {
  return path.replace('{trackerId}', trackerId).replace('{subjectId}', subjectId)
}

describe("another organisation's ids", () => {
  for (const { name, method, path } of addressed) {
    it(`get the same answer as IDs that do not exist, byte for byte, with any key: ${name}`, async () => {
      const subjectIds = path.includes('{subjectId}') ? ['anna', 'nobody'] : ['']
      const others = method === 'GET' ? ['HEAD', 'POST', 'OPTIONS'] : ['PUT']
      const methods = isPostgres ? [method] : [method, ...others]
      for (const [i, [who, authorization]] of [...accepted, ...(isPostgres ? [] : refused)].entries()) {
        // Only the first key may do everything; for the others, the method and query make no difference.
        for (const asked of i === 0 ? methods : [method]) {
          // One request alone, and all of them pipelined, which are read from the store in one batch.
          for (const some of i === 0 && asked === method ? [queries.slice(0, 1), queries] : [queries]) {
            const ask = (trackerId: string, subjectId: string) =>
              rawAnswers(service.url, {
                targets: some.map((query) => fill(path, trackerId, subjectId) + query(trackerId)),
                method: asked,
                authorization,
              })
            const expected = await ask(missing, 'nobody')
            const statuses = expected.match(/HTTP\/1\.1 4\d\d /g) ?? []
            assert.equal(statuses.length, some.length)
            for (const subjectId of subjectIds)
              assert.equal(await ask(foreign, subjectId), expected, `${who}: ${asked} ${subjectId}`)
          }
        }
      }
    })
  }

  it('existed all the time: their owner still sees all their data', async () => {
    const record = dataOf(
      await service.ask(`/v1/analytics/trackers/${foreign}/subjects/anna`, { key: rivalKey }),
    )
    assert.deepEqual(record.counts, { sessions: 1, events: 800 })
  })
})

describe("the time it takes to refuse another organisation's ids", () => {
  const wire = new Wire(service.url)
  after(() => wire.close())
  const random = seededRandom()
  const rounds = isPostgres ? 20 : 30

  /** How distinguishable times are, from 0 to 1. Repeated: a real difference persists, chance does not. */
  async function distinguishability(
    first: () => Promise<unknown>,
    second: () => Promise<unknown>,
    enough: (distance: number) => boolean,
  ): Promise<number> {
    let distance = 0
    for (let attempt = 0; attempt < 4; attempt++) {
      const longer = await compareTimes(
        random,
        async () => void (await first()),
        async () => void (await second()),
        rounds,
      )
      distance = Math.abs(longer - 0.5) * 2
      if (enough(distance)) break
    }
    return distance
  }

  it('is measurable: pages of events take longer than a refusal', async (t) => {
    const list = (trackerId: string) =>
      wire.ask(`/v1/analytics/trackers/${trackerId}/subjects/anna/events?limit=200`, full)
    const distance = await distinguishability(
      () => list(missing),
      // On an idle machine, one page would be enough.
      async () => {
        for (let page = 0; page < 4; page++) await list('shop')
      },
      (found) => found > 0.5,
    )
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}, ${distance.toFixed(2)}`)
    assert.ok(distance > 0.5)
  })

  for (const { name, method, path } of addressed) {
    it(`reveals nothing: ${name}`, async (t) => {
      const ask = (trackerId: string, subjectId: string) =>
        wire.ask(fill(path, trackerId, subjectId), full, method)
      const distance = await distinguishability(
        () => ask(missing, 'anna'),
        () => ask(foreign, 'anna'),
        (found) => found < 0.4,
      )
      t.diagnostic(`${distance.toFixed(2)}`)
      assert.ok(distance < 0.4)
    })
  }
})
