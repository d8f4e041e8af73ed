import type { Clock, Instant } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import { journalledEntry } from '../domain/journal-line.ts'
import { type Keyring, personCommitment } from '../domain/keyring.ts'
import type { AppendedEntry, LedgerGuard } from '../domain/ledger.ts'
import { formatRecord, type NothingHeldRecord } from '../domain/ledger-record.ts'
import type { NothingHeldEntry } from '../domain/privacy-request.ts'
import { formatReceipt } from '../domain/receipt.ts'
import { comparableValue, type SubjectIdentifier } from '../domain/subject-identifier.ts'

/** That nothing was held, with its proof. */
export interface NothingHeld extends Pick<NothingHeldEntry, 'name'> {
  checkedAt: Instant
  /** The index of its ledger entry, from 0. */
  ledgerIndex: number
  receipt: string
}

/**
 * Runs in one transaction: appends the records in their order with `appendRecords`, and whatever else belongs
 * to them. `null` if it appended none of them, for example because another process did.
 */
type Append = (
  entries: readonly NothingHeldEntry[],
  guard: LedgerGuard,
) => Promise<readonly AppendedEntry[] | null>

/**
 * Proves that nothing is held about a person: one ledger entry per identifier, each once, with a receipt.
 * `null` if `append` appended nothing. If the journal cannot be written, it rejects although the entries are
 * in the ledger. Without identifiers, `append` still runs, with no entries.
 */
export async function proveNothingHeld(
  deps: { clock: Clock; keyring: Keyring; journal?: Journal | undefined },
  organisationId: string,
  identifiers: readonly SubjectIdentifier[],
  append: Append,
): Promise<NothingHeld[] | null> {
  const { keyring, journal } = deps
  const minEntries = (await journal?.entryCount(organisationId)) ?? 0
  const checkedAt = deps.clock()
  const made = distinct(identifiers).map((identifier) => {
    return makeEntry(keyring, organisationId, identifier, checkedAt)
  })
  const entries = made.map(({ entry }) => entry)
  const appended = await append(entries, { headKeys: keyring.headKeys, minEntries }).catch(async (error) => {
    await journal?.checkLedger(organisationId)
    throw error
  })
  if (appended === null) return null
  const lines = made.flatMap(({ parsed }, i) => {
    const { record, proof } = appended[i] ?? missing()
    return journalledEntry({ organisationId, index: proof.index, record }, parsed, null)
  })
  await journal?.append(lines)
  return made.map(({ entry, nonce }, i) => {
    const { record, proof } = appended[i] ?? missing()
    const receipt = formatReceipt(
      { nonce, record },
      proof,
      keyring.signCheckpoint(organisationId, proof.head),
    )
    return { name: entry.name, checkedAt, ledgerIndex: proof.index, receipt }
  })
}

function makeEntry(
  keyring: Keyring,
  organisationId: string,
  identifier: SubjectIdentifier,
  checkedAt: Instant,
): { entry: NothingHeldEntry; parsed: NothingHeldRecord; nonce: Buffer } {
  const nonce = keyring.personNonce(organisationId, identifier, checkedAt)
  const person = personCommitment(nonce, identifier)
  const parsed: NothingHeldRecord = { version: 2, checkedAt, person }
  const sealedNonce = keyring.sealNonce(nonce, person)
  return { entry: { name: identifier.name, record: formatRecord(parsed), sealedNonce }, parsed, nonce }
}

/** The first of identifiers that are compared as equal. */
function distinct(identifiers: readonly SubjectIdentifier[]): SubjectIdentifier[] {
  const byValue = new Map<string, SubjectIdentifier>()
  for (const identifier of identifiers) {
    const key = `${identifier.name}\0${comparableValue(identifier)}`
    if (!byValue.has(key)) byValue.set(key, identifier)
  }
  return [...byValue.values()]
}

function missing(): never {
  throw new Error('An entry was not appended to the ledger.')
}
