import assert from 'node:assert/strict'
import type { Clock } from '../../src/domain/instant.ts'
import type { Journal } from '../../src/domain/journal.ts'
import type { Keyring } from '../../src/domain/keyring.ts'
import type { LedgerStore } from '../../src/domain/ledger.ts'
import type { NothingHeldEntry } from '../../src/domain/privacy-request.ts'
import type { SubjectIdentifier } from '../../src/domain/subject-identifier.ts'
import { type NothingHeld, proveNothingHeld } from '../../src/operations/nothing-held.ts'

/** Proves that nothing is held about a person with these identifiers, in a separate transaction. */
export async function recordNothingHeld(
  { ledger, ...deps }: { ledger: LedgerStore; clock: Clock; keyring: Keyring; journal?: Journal | undefined },
  organisationId: string,
  identifiers: readonly SubjectIdentifier[],
): Promise<(NothingHeld & { entry: NothingHeldEntry })[]> {
  let appended: readonly NothingHeldEntry[] = []
  const proven = await proveNothingHeld(deps, organisationId, identifiers, (entries, guard) => {
    appended = entries
    return ledger.append(
      organisationId,
      entries.map(({ record }) => record),
      guard,
    )
  })
  assert.ok(proven, 'the organisation is there')
  return proven.map((each, i) => ({ ...each, entry: appended[i] ?? assert.fail() }))
}

export function emails(...values: string[]): SubjectIdentifier[] {
  return values.map((value) => ({ name: 'email', value }))
}
