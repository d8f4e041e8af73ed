import type { SecretStore } from '../../domain/secret.ts'
import { text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { statement } from './statement.ts'

const list = statement('SELECT fingerprint FROM secrets ORDER BY fingerprint')
const insert = statement('INSERT INTO secrets VALUES ($1, $2) ON CONFLICT DO NOTHING')

export function secretStore(connections: Connections): SecretStore {
  return {
    list: async () => (await connections.read(list, [])).map((row) => text(row, 'fingerprint')),
    remember: (fingerprints, now) =>
      connections.transaction(async (run) => {
        for (const fingerprint of fingerprints) await run(insert, [fingerprint, now])
      }),
  }
}
