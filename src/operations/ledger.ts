import { notFound, Problems } from '../domain/errors.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type LedgerEntry, type LedgerStore, openHead } from '../domain/ledger.ts'
import { consistencyPath, hashesOfPath, inclusionPath, type TreeHead } from '../domain/merkle-tree.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'

/** The head of an organisation's ledger, and the keys that verify it. */
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

const pageEntries = 500

/** All entries of a ledger, in pages. */
export async function* ledgerPages(
  ledger: LedgerStore,
  organisationId: string,
): AsyncGenerator<readonly LedgerEntry[]> {
  for (let next = 0; ; ) {
    const entries = await ledger.list(organisationId, next, pageEntries)
    const last = entries.at(-1)
    if (!last) return
    yield entries
    next = last.index + 1
  }
}

interface EntryListOptions {
  limit?: number
  cursor?: string
}

/** Entries from an index on. */
interface EntryQuery {
  limit: number
  from: number
}

export function planEntryList(
  { limit = defaultPageSize, cursor }: EntryListOptions,
  problems: Problems,
): EntryQuery {
  const position = readCursor(list, cursor, problems)
  return { limit, from: position === null ? 0 : position.at }
}

/** Oldest first. Entries are short, so no page reaches the maximum size. */
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

export interface OpenedCheckpoint {
  organisationId: string
  head: TreeHead
}

const checkpoint = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n/

/**
 * Parses a checkpoint, also of a receipt. Throws, with a message for people, unless our secrets signed it.
 */
export function openCheckpoint(
  keyring: Keyring,
  organisationIds: readonly string[],
  text: string,
): OpenedCheckpoint {
  const note = text.startsWith('c2sp.org/tlog-proof@v1\n') ? text.slice(text.indexOf('\n\n') + 2) : text
  const [, origin, size, root = ''] = checkpoint.exec(note) ?? []
  if (origin === undefined) throw new Error('It contains no checkpoint of a ledger.')
  const organisationId = organisationIds.find((id) => keyring.originOf(id) === origin)
  if (organisationId === undefined)
    throw new Error(`It belongs to ${origin}, which is not a ledger of this store.`)
  const signed = `${origin}\n${size}\n${root}\n`
  const lines = note.slice(signed.length + 1).split('\n')
  // Ed25519 signatures are deterministic, so a signature can be checked by signing again.
  const isOurs = keyring
    .signersOf(organisationId)
    .some((signer) => lines.includes(signer.signatureLine(signed).trimEnd()))
  if (!isOurs) throw new Error('It was not signed with a secret of this store.')
  return { organisationId, head: { size: Number(size), rootHash: Buffer.from(root, 'base64') } }
}

/** Proves that an entry is in a ledger. Without the nonce of its receipt, it identifies nobody. */
export interface ProvenEntry {
  index: number
  record: string
  leafHash: Uint8Array
  /** Hashes in base64. */
  proof: string[]
  checkpoint: string
}

/** Proves an entry against the current tree. Throws `not_found` if there is none at this index. */
export async function proveEntry(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  index: number,
): Promise<ProvenEntry> {
  const [entry] = await ledger.list(organisationId, index, 1)
  if (entry?.index !== index) throw notFound('This entry of the ledger')
  // Read after the entry, so that it covers the entry.
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const proof = await proveInclusion(ledger, organisationId, index, head)
  const { record, leafHash } = entry
  return { index, record, leafHash, proof, checkpoint: keyring.signCheckpoint(organisationId, head) }
}

/** The hashes, in base64, from an entry to the root of a tree that contains it. */
export async function proveInclusion(
  ledger: LedgerStore,
  organisationId: string,
  index: number,
  { size }: TreeHead,
): Promise<string[]> {
  const path = inclusionPath(index, size)
  const hashes = hashesOfPath(path, await ledger.hashes(organisationId, path.flat()))
  return hashes.map((hash) => hash.toString('base64'))
}

/** Proves that a ledger starts with its first `from` entries. */
interface ConsistencyProof {
  from: number
  to: number
  proof: Buffer[]
  checkpoint: string
}

/** Throws `validation_error` if the ledger has fewer than `from` entries. */
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
