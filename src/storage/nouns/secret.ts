import type { Instant } from '../../domain/instant.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import { type HeadKeys, headMacs } from '../../domain/ledger.ts'
import { headAt } from '../../domain/merkle-tree.ts'
import { requireKeys, type SecretStore } from '../../domain/secret.ts'
import type { Engine, Run } from './engine.ts'
import { toStoredHead } from './ledger.ts'
import { integer, type Row, text } from './row.ts'
import { postgresOnly, statement } from './statement.ts'

export const listSecrets = statement('SELECT fingerprint FROM secrets ORDER BY fingerprint')
const find = statement('SELECT first_used_at FROM secrets WHERE fingerprint = :fingerprint')
const insert = statement('INSERT INTO secrets VALUES (:fingerprint, :firstUsedAt) ON CONFLICT DO NOTHING')
const remove = statement('DELETE FROM secrets WHERE fingerprint = :fingerprint')
/** Serialises two processes that add the first secret. There is no row to lock yet. */
const lock = postgresOnly('SELECT pg_advisory_xact_lock(1279611755)')

const sizes = statement(
  'SELECT organisation_id, max(ledger_index) AS ledger_index FROM ledger_entries GROUP BY organisation_id',
  'any',
)
const entry = statement(
  `SELECT ledger_index, edge, head_mac FROM ledger_entries
   WHERE organisation_id = :organisationId AND ledger_index = :index`,
)
const setMac = statement(
  `UPDATE ledger_entries SET head_mac = :mac WHERE organisation_id = :organisationId AND ledger_index = :index`,
)

export const secretTransactions = {
  async rememberSecrets(run: Run, fingerprints: readonly string[], now: Instant): Promise<string[]> {
    await run(lock)
    const known = toFingerprints((await run(listSecrets)).rows)
    const missing = known.filter((fingerprint) => !fingerprints.includes(fingerprint))
    if (missing.length === 0)
      for (const fingerprint of fingerprints) await run(insert, { fingerprint, firstUsedAt: now })
    return missing
  },
  async adoptLedgers(
    run: Run,
    fingerprints: ReadonlyMap<string, string>,
    headKeys: HeadKeys,
  ): Promise<number> {
    await run(lock)
    let adopted = 0
    for (const size of (await run(sizes)).rows) {
      const place = { organisationId: text(size, 'organisation_id'), index: integer(size, 'ledger_index') }
      const [row] = (await run(entry, place)).rows
      const stored = row && toStoredHead(row)
      if (stored?.mac !== '') continue
      await run(setMac, { ...place, mac: headMacs(headKeys, place.organisationId, headAt(stored.frontier)) })
      adopted += 1
    }
    for (const [older, newer] of fingerprints) {
      const [row] = (await run(find, { fingerprint: older })).rows
      if (!row) continue
      await run(remove, { fingerprint: older })
      await run(insert, { fingerprint: newer, firstUsedAt: integer(row, 'first_used_at') })
    }
    return adopted
  },
}

export function secretStore(engine: Engine<typeof secretTransactions>): SecretStore {
  return {
    list: async () => toFingerprints(await engine.read(listSecrets)),
    remember: (fingerprints, now) => engine.transact('rememberSecrets', fingerprints, now),
    adopt: (fingerprints, headKeys) => engine.transact('adoptLedgers', fingerprints, headKeys),
  }
}

/** Throws if the store belongs to a secret, listed in these rows, that none of the keys comes from. */
export function checkKeys(rows: readonly Row[], keys: readonly TombstoneKey[]): void {
  requireKeys(keys, toFingerprints(rows))
}

function toFingerprints(rows: readonly Row[]): string[] {
  return rows.map((row) => text(row, 'fingerprint'))
}
