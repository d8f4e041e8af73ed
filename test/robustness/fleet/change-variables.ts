import assert from 'node:assert/strict'
import { readConfig } from '../../../src/config.ts'
import { editVariables } from '../../../src/operations/variable.ts'
import { createVariableToken } from '../../../src/operations/variable-token.ts'
import { openServices } from '../../../src/start.ts'
import { dataOf } from '../../support/answers.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { ask, clientAddress } from './fleet.ts'

/** Processes that share a store. */
interface Processes {
  store: string
  places: readonly { server: { url: string } }[]
}

/** The number of clients that read from each process continuously. */
const readers = 2

/** Changes a variable repeatedly under load. Each process must return the new value in the next request. */
export async function changeVariables({ store, places }: Processes, times: number): Promise<void> {
  const elsewhere = await openServices(
    readConfig({ LETHE_STORE: store, LETHE_SECRET_FILE: testSecretFile() }),
  )
  const [organisation] = await elsewhere.organisations.list()
  const [tracker] = await elsewhere.trackers.list(organisation?.id ?? '')
  assert.ok(tracker)
  const issued = await createVariableToken(elsewhere, { trackerId: tracker.id, name: 'fleet' })
  // Addresses that no other test of the fleet uses.
  let asked = 1 << 20
  const read = async (url: string) => {
    const answer = await ask(url, `/v1/variables?token=${issued.tokenString}`, {
      from: clientAddress(asked++),
    })
    return dataOf(answer)
  }
  /** The acknowledged version. */
  let current = 0
  let isOver = false
  async function keepReading(url: string): Promise<void> {
    while (!isOver) {
      const known = current
      const { version } = await read(url)
      assert.ok(Number(version) >= known, `version ${version} after version ${known} was acknowledged`)
    }
  }
  const load = places.flatMap(({ server }) => Array.from({ length: readers }, () => keepReading(server.url)))
  try {
    for (let round = 1; round <= times; round++) {
      const { version } = await editVariables(elsewhere, tracker.id, {
        apply: () => new Map([['round', round]]),
      })
      current = version
      const shown = await Promise.all(places.map(({ server }) => read(server.url)))
      for (const each of shown) assert.deepEqual(each, { variables: { round }, version })
    }
  } finally {
    isOver = true
    await Promise.all(load).finally(() => elsewhere.close())
  }
}
