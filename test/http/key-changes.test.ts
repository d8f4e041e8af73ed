import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { revokeKey, rotateKey } from '../../src/operations/api-key.ts'
import { openServices } from '../../src/start.ts'
import { dataOf, errorOf } from '../support/answers.ts'
import { emptyStore } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { startShop, subjectsPath } from '../support/shop.ts'
import { testSecretFile } from '../support/test-keyring.ts'

const lifetime = inReverse({ after })
const env = { LETHE_STORE: await emptyStore(lifetime), LETHE_SECRET_FILE: testSecretFile() }
const shop = await startShop(lifetime, { env, scopes: ['analytics:view'] })
const { organisationId, services } = shop
/** Another process with the same store. */
const other = await openServices(readConfig(env))
lifetime.after(() => other.close())

const newKey = (expiresAt?: number) => shop.createKey(organisationId, ['analytics:view'], expiresAt)
const asks = (keyString: string) => shop.ask(subjectsPath, { key: keyString })

describe('a change to a key applies to the very next request', () => {
  for (const [where, changing] of [
    ['by this process', services],
    ['by another process on the same store', other],
  ] as const) {
    test(`a rotation, ${where}`, async () => {
      const { key, keyString: old } = await newKey()
      dataOf(await asks(old))
      const { keyString } = await rotateKey(changing, key.id)
      errorOf(await asks(old), 'unauthorized')
      dataOf(await asks(keyString))
    })

    test(`a revocation, ${where}`, async () => {
      const { key, keyString } = await newKey()
      dataOf(await asks(keyString))
      await revokeKey(changing, key.id, key.name)
      errorOf(await asks(keyString), 'unauthorized')
    })
  }

  test('expiry, at the exact time', async (t) => {
    const { clock } = services
    t.after(() => {
      services.clock = clock
    })
    let now = Date.now()
    services.clock = () => now
    const { keyString } = await newKey(now + 5_000)
    now += 4_999
    dataOf(await asks(keyString))
    now += 1
    errorOf(await asks(keyString), 'unauthorized')
  })
})
