import type { TombstoneKey } from '../../domain/keyring.ts'
import { headMacs } from '../../domain/ledger.ts'
import { headAt } from '../../domain/merkle-tree.ts'
import { requireKeys, type SecretStore } from '../../domain/secret.ts'
import { toStoredHead } from '../rows/ledger.ts'
import { integer, text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { statement } from './statement.ts'
import type { Run } from './transact.ts'

const list = statement('SELECT fingerprint FROM secrets ORDER BY fingerprint')
const insert = statement('INSERT INTO secrets VALUES ($1, $2) ON CONFLICT DO NOTHING')
/** Two processes that bring the first secret wait for each other. No row can be locked: there is none yet. */
const lock = statement('SELECT pg_advisory_xact_lock(1279611755)')

const replace = statement(
  `WITH older AS (DELETE FROM secrets WHERE fingerprint = $1 RETURNING first_used_at)
   INSERT INTO secrets SELECT $2, first_used_at FROM older ON CONFLICT DO NOTHING`,
)
const sizes = statement(
  'SELECT organisation_id, max(ledger_index) AS ledger_index FROM ledger_entries GROUP BY organisation_id',
  'any',
)
const entry = statement(
  'SELECT ledger_index, edge, head_mac FROM ledger_entries WHERE organisation_id = $1 AND ledger_index = $2',
)
const setMac = statement(
  'UPDATE ledger_entries SET head_mac = $3 WHERE organisation_id = $1 AND ledger_index = $2',
)

/** Throws when the store belongs by now to a secret that none of the keys comes from. */
export async function checkKeys(run: Run, keys: readonly TombstoneKey[]): Promise<void> {
  const { rows } = await run(list)
  requireKeys(
    keys,
    rows.map((row) => text(row, 'fingerprint')),
  )
}

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
    adopt: (fingerprints, headKeys) =>
      connections.transaction(async (run) => {
        await run(lock)
        let adopted = 0
        for (const size of (await run(sizes)).rows) {
          const place = [text(size, 'organisation_id'), integer(size, 'ledger_index')] as const
          const [row] = (await run(entry, place)).rows
          const stored = row && toStoredHead(row)
          if (!stored || stored.mac !== '') continue
          await run(setMac, [...place, headMacs(headKeys, place[0], headAt(stored.edge))])
          adopted += 1
        }
        for (const [older, newer] of fingerprints) await run(replace, [older, newer])
        return adopted
      }),
  }
}
