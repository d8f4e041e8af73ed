import { test } from 'node:test'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { noRedisOfOurOwn, startRedis } from '../../support/redis.ts'
import { roomy } from '../kill/server.ts'
import { buildShopAt } from '../kill/visits.ts'
import { changeVariables } from './change-variables.ts'
import { startFleet } from './fleet.ts'
import { rotateKeys } from './rotate-keys.ts'

for (const [what, work] of [
  ['refuse a rotated key’s old string', rotateKeys],
  ['show changed variables', changeVariables],
] as const) {
  test(`three processes each ${what} at the very next request, 1,000 times in a row`, {
    skip: noRedisOfOurOwn,
  }, async (t) => {
    const lifetime = inReverse(t)
    const { url: redis } = await startRedis(lifetime)
    const store = await freshStore(lifetime)
    await buildShopAt(store)
    await work(await startFleet(lifetime, { store, redis, env: roomy }), 1_000)
  })
}
