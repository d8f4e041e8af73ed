import type { Keyring } from '../../domain/keyring.ts'
import type { TreeHead } from '../../domain/merkle-tree.ts'

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
