import { notFound, Problems } from '../domain/errors.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type LedgerEntry, type LedgerStore, openHead } from '../domain/ledger.ts'
import { consistencyPath, hashesOfPath, inclusionPath, type TreeHead } from '../domain/merkle-tree.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'

/** How an organisation's ledger stands, and by which keys others know it. */
export interface LedgerHead extends TreeHead {
  origin: string
  checkpoint: string
  verifierKeys: string[]
}

export async function readLedger(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
): Promise<LedgerHead> {
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  return {
    ...head,
    origin: keyring.originOf(organisationId),
    checkpoint: keyring.signCheckpoint(organisationId, head),
    verifierKeys: keyring.signersOf(organisationId).map(({ verifierKey }) => verifierKey),
  }
}

interface EntryListOptions {
  limit?: number
  cursor?: string
}

/** A page of a ledger: entries from an index on. */
interface EntryQuery {
  limit: number
  from: number
}

/** Turns what a client asked for into a query. */
export function planEntryList(
  { limit = defaultPageSize, cursor }: EntryListOptions,
  problems: Problems,
): EntryQuery {
  const position = readCursor(list, cursor, problems)
  return { limit, from: position === null ? 0 : position.at }
}

/** A page of an organisation's ledger, oldest first. Entries are short: no page comes near the bytes that one may hold. */
export async function listEntries(
  { ledger }: { ledger: LedgerStore },
  organisationId: string,
  { limit, from }: EntryQuery,
): Promise<{ entries: LedgerEntry[]; nextCursor: string | null }> {
  const found = await ledger.list(organisationId, from, limit + 1)
  const next = found[limit]
  return {
    entries: found.slice(0, limit),
    nextCursor: next ? encodeCursor(list, next.index, 'entry') : null,
  }
}

const list: ListIdentity = ['entries']

/** A head that an organisation's ledger had. */
export interface OpenedCheckpoint {
  organisationId: string
  head: TreeHead
}

const checkpoint = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n/

/** Reads a checkpoint of one of the organisations, or of a receipt's. Throws, in words for people, when none of our secrets signed it. */
export function openCheckpoint(
  keyring: Keyring,
  organisationIds: readonly string[],
  text: string,
): OpenedCheckpoint {
  const note = text.startsWith('c2sp.org/tlog-proof@v1\n') ? text.slice(text.indexOf('\n\n') + 2) : text
  const [, origin, size, root = ''] = checkpoint.exec(note) ?? []
  if (origin === undefined) throw new Error('It holds no checkpoint of a ledger.')
  const organisationId = organisationIds.find((id) => keyring.originOf(id) === origin)
  if (organisationId === undefined) throw new Error(`It is of ${origin}, which is no ledger of this store.`)
  const signed = `${origin}\n${size}\n${root}\n`
  const lines = note.slice(signed.length + 1).split('\n')
  // Ed25519 signs a text in one way, so a signature of ours can simply be made again.
  const isOurs = keyring
    .signersOf(organisationId)
    .some((signer) => lines.includes(signer.signatureLine(signed).trimEnd()))
  if (!isOurs) throw new Error('It was signed by none of the secrets that this store belongs to.')
  return { organisationId, head: { size: Number(size), rootHash: Buffer.from(root, 'base64') } }
}

/** What shows that an entry stands in a ledger. Without the nonce of its receipt it does not tell who was erased. */
export interface ProvenEntry {
  index: number
  record: string
  leafHash: Uint8Array
  /** Hashes in base64. */
  proof: string[]
  checkpoint: string
}

/** An entry of an organisation's ledger, with its place in the tree as it is now. `not_found` when there is none at this index. */
export async function proveEntry(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  index: number,
): Promise<ProvenEntry> {
  const [entry] = await ledger.list(organisationId, index, 1)
  if (entry?.index !== index) throw notFound('This entry of the ledger')
  // Read after the entry, so that it holds it.
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const proof = await provePlace(ledger, organisationId, index, head)
  const { record, leafHash } = entry
  return { index, record, leafHash, proof, checkpoint: keyring.signCheckpoint(organisationId, head) }
}

/** The hashes that lead from an entry to the root of a tree that holds it, in base64. */
export async function provePlace(
  ledger: LedgerStore,
  organisationId: string,
  index: number,
  { size }: TreeHead,
): Promise<string[]> {
  const path = inclusionPath(index, size)
  const hashes = hashesOfPath(path, await ledger.hashes(organisationId, path.flat()))
  return hashes.map((hash) => hash.toString('base64'))
}

/** Proves that a ledger begins with what it was when it had `from` entries. */
interface ConsistencyProof {
  from: number
  to: number
  proof: Buffer[]
  /** The head that it leads to. */
  checkpoint: string
}

/** `validation_error` when the ledger has fewer entries than `from`. */
export async function proveConsistency(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  from: number,
): Promise<ConsistencyProof> {
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const problems = new Problems()
  if (from > head.size) {
    problems.add('from', `from must be at most ${head.size}, the number of entries in the ledger`)
  }
  problems.throwIfAny()
  const path = consistencyPath(from, head.size)
  const proof = hashesOfPath(path, await ledger.hashes(organisationId, path.flat()))
  return { from, to: head.size, proof, checkpoint: keyring.signCheckpoint(organisationId, head) }
}
