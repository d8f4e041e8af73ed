import { join } from 'node:path'
import { test } from 'node:test'
import { commandLine, startServe } from '../../support/command-line.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { noOwnRedis, startRedis } from '../../support/redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { ampleBudgets } from '../kill/server.ts'
import { buildShopAt } from '../kill/visits.ts'
import { changeVariables } from './change-variables.ts'
import { startFleet } from './fleet.ts'
import { rotateKeys } from './rotate-keys.ts'

for (const [what, work] of [
  ['refuse a rotated key’s old string', rotateKeys],
  ['return changed variables', changeVariables],
] as const) {
  test(`three processes each ${what} in the next request, 1,000 times in a row`, {
    skip: noOwnRedis,
  }, async (t) => {
    const lifetime = inReverse(t)
    const { url: redis } = await startRedis(lifetime)
    const store = await freshStore(lifetime)
    await buildShopAt(store)
    await work(await startFleet(lifetime, { store, redis, env: ampleBudgets }), 1_000)
  })
}

test('three processes on one SQLite file each return changed variables in the next request, 1,000 times in a row', async (t) => {
  const lifetime = inReverse(t)
  const store = `sqlite:${join(temporaryFolder(lifetime), 'lethe.db')}`
  await buildShopAt(store)
  const cli = commandLine(lifetime, store)
  const env = { ...ampleBudgets, LETHE_TRUSTED_PROXIES: '127.0.0.1', LETHE_SECRET_FILE: testSecretFile() }
  const servers = await Promise.all(Array.from({ length: 3 }, () => startServe(cli, env)))
  await changeVariables({ store, places: servers.map((server) => ({ server })) }, 1_000)
})
