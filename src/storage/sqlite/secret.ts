import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import { type HeadKeys, headMacs } from '../../domain/ledger.ts'
import { headAt } from '../../domain/merkle-tree.ts'
import { requireKeys, type SecretStore } from '../../domain/secret.ts'
import { toStoredHead } from '../rows/ledger.ts'
import { integer, text } from '../rows/row.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

export function secretStore({ reader, writer }: Connections<ReturnType<typeof secretCommands>>): SecretStore {
  const list = reader.prepare('SELECT fingerprint FROM secrets')
  return {
    list: async () => list.all().map((row) => text(row, 'fingerprint')),
    remember: (fingerprints, now) => writer.run('rememberSecrets', fingerprints, now),
    adopt: (fingerprints, headKeys) => writer.run('adoptLedgers', fingerprints, headKeys),
  }
}

/** Throws, within a transaction, when the store belongs to a secret that none of the keys comes from. */
export function keyCheck(db: DatabaseSync): (keys: readonly TombstoneKey[]) => void {
  const list = db.prepare('SELECT fingerprint FROM secrets')
  return (keys) =>
    requireKeys(
      keys,
      list.all().map((row) => text(row, 'fingerprint')),
    )
}

export function secretCommands(db: DatabaseSync) {
  const list = db.prepare('SELECT fingerprint FROM secrets')
  const insert = db.prepare('INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING')
  const replace = db.prepare('UPDATE OR REPLACE secrets SET fingerprint = ?2 WHERE fingerprint = ?1')
  const lastEntries = db.prepare(
    'SELECT organisation_id, max(ledger_index) AS ledger_index, edge, head_mac FROM ledger_entries GROUP BY organisation_id',
  )
  const setMac = db.prepare(
    'UPDATE ledger_entries SET head_mac = ? WHERE organisation_id = ? AND ledger_index = ?',
  )
  return {
    adoptLedgers: (fingerprints: ReadonlyMap<string, string>, headKeys: HeadKeys): number =>
      transaction(db, () => {
        const withoutMac = lastEntries.all().filter((row) => toStoredHead(row).mac === '')
        for (const row of withoutMac) {
          const organisationId = text(row, 'organisation_id')
          const mac = headMacs(headKeys, organisationId, headAt(toStoredHead(row).edge))
          setMac.run(mac, organisationId, integer(row, 'ledger_index'))
        }
        for (const [older, newer] of fingerprints) replace.run(older, newer)
        return withoutMac.length
      }),
    rememberSecrets: (fingerprints: readonly string[], now: Instant): string[] =>
      transaction(db, () => {
        const known = list.all().map((row) => text(row, 'fingerprint'))
        const missing = known.filter((fingerprint) => !fingerprints.includes(fingerprint))
        if (missing.length === 0) for (const fingerprint of fingerprints) insert.run(fingerprint, now)
        return missing
      }),
  }
}
