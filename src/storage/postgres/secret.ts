import type { SecretStore } from '../../domain/secret.ts'
import { text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { statement } from './statement.ts'

const list = statement('SELECT fingerprint FROM secrets ORDER BY fingerprint')
const insert = statement('INSERT INTO secrets VALUES ($1, $2) ON CONFLICT DO NOTHING')
/** Two processes that bring the first secret wait for each other. No row can be locked: there is none yet. */
const lock = statement('SELECT pg_advisory_xact_lock(1279611753)')

export function secretStore(connections: Connections): SecretStore {
  return {
    list: async () => (await connections.read(list, [])).map((row) => text(row, 'fingerprint')),
    remember: (fingerprints, now) =>
      connections.transaction(async (run) => {
        await run(lock)
        const known = (await run(list)).rows.map((row) => text(row, 'fingerprint'))
        const missing = known.filter((fingerprint) => !fingerprints.includes(fingerprint))
        if (missing.length === 0)
          for (const fingerprint of fingerprints) await run(insert, [fingerprint, now])
        return missing
      }),
  }
}
