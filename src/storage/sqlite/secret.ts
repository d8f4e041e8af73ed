import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import type { SecretStore } from '../../domain/secret.ts'
import { text } from '../rows/row.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

export function secretStore({ reader, writer }: Connections<ReturnType<typeof secretCommands>>): SecretStore {
  const list = reader.prepare('SELECT fingerprint FROM secrets')
  return {
    list: async () => list.all().map((row) => text(row, 'fingerprint')),
    remember: (fingerprints, now) => writer.run('rememberSecrets', fingerprints, now),
  }
}

export function secretCommands(db: DatabaseSync) {
  const list = db.prepare('SELECT fingerprint FROM secrets')
  const insert = db.prepare('INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING')
  return {
    rememberSecrets: (fingerprints: readonly string[], now: Instant): string[] =>
      transaction(db, () => {
        const known = list.all().map((row) => text(row, 'fingerprint'))
        const missing = known.filter((fingerprint) => !fingerprints.includes(fingerprint))
        if (missing.length === 0) for (const fingerprint of fingerprints) insert.run(fingerprint, now)
        return missing
      }),
  }
}
