import assert from 'node:assert/strict'
import { readConfig } from '../../../src/config.ts'
import { readKeyId } from '../../../src/domain/api-key.ts'
import { rotateKey } from '../../../src/operations/api-key.ts'
import { openServices } from '../../../src/start.ts'
import { dataOf, errorOf } from '../../support/answers.ts'
import { subjectsPath } from '../../support/shop.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { ask, clientAddress, type Fleet } from './fleet.ts'

/** Rotates a key repeatedly. Fails unless each process refuses the old string in the next request. */
export async function rotateKeys({ store, places, key }: Fleet, times: number): Promise<void> {
  // Another process rotates the keys, as `lethe keys rotate` does.
  const elsewhere = await openServices(
    readConfig({ LETHE_STORE: store, LETHE_SECRET_FILE: testSecretFile() }),
  )
  const id = readKeyId(key)
  assert.ok(id)
  let current = key
  try {
    for (let round = 0; round < times; round++) {
      const from = clientAddress(round)
      // The first was the second in the previous round, so it has just accepted the replaced string.
      const [first, second] = [places[round % 3], places[(round + 1) % 3]]
      assert.ok(first && second)
      const { keyString } = await rotateKey(elsewhere, id)
      errorOf(await ask(first.server.url, subjectsPath, { key: current, from }), 'unauthorized')
      dataOf(await ask(first.server.url, subjectsPath, { key: keyString, from }))
      dataOf(await ask(second.server.url, subjectsPath, { key: keyString, from }))
      current = keyString
    }
  } finally {
    await elsewhere.close()
  }
}
