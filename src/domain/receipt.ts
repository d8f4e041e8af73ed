import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { SubjectCounts } from './activity.ts'
import { formatInstant, type Instant, parseInstant } from './instant.ts'
import type { InclusionProof, TreeHead } from './merkle-tree.ts'

/** What an entry of the ledger tells of an erasure. */
export interface ErasureRecord {
  alreadyErased: boolean
  counts: SubjectCounts
  erasedAt: Instant
  /** Tells who it was to whoever has the nonce and asks for the right subject. */
  subject: string
  trackerId: string
}

/** An entry as it stands in the tree: one line of canonical JSON (RFC 8785), so with its names in order. */
export function formatRecord({ alreadyErased, counts, erasedAt, subject, trackerId }: ErasureRecord): string {
  return JSON.stringify({
    alreadyErased,
    counts: { events: counts.events, sessions: counts.sessions },
    erasedAt: formatInstant(erasedAt),
    subject,
    trackerId,
    version: 1,
  })
}

/** Reads an entry that `formatRecord` wrote. `null` for any other text. */
export function parseRecord(text: string): ErasureRecord | null {
  const { alreadyErased, counts, erasedAt, subject, trackerId } = parseObject(text)
  const { events, sessions } = Object(counts)
  const instant = typeof erasedAt === 'string' ? parseInstant(erasedAt) : null
  if (typeof alreadyErased !== 'boolean' || instant === null) return null
  if (typeof subject !== 'string' || typeof trackerId !== 'string') return null
  if (!Number.isSafeInteger(events) || !Number.isSafeInteger(sessions)) return null
  const record = { alreadyErased, counts: { events, sessions }, erasedAt: instant, subject, trackerId }
  return formatRecord(record) === text ? record : null
}

function parseObject(text: string): Partial<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return {}
  }
}

/** The head of a ledger as C2SP tlog-checkpoint. */
export function formatCheckpoint(
  origin: string,
  { size, rootHash }: TreeHead,
  signers: readonly NoteSigner[],
): string {
  return signNote(`${origin}\n${size}\n${base64(rootHash)}\n`, signers)
}

/** A receipt as C2SP tlog-proof: an entry and what leads to its subject, its place in the tree, and a checkpoint of that tree. */
export function formatReceipt(
  { nonce, record }: { nonce: Uint8Array; record: string },
  { index, path }: Pick<InclusionProof, 'index' | 'path'>,
  checkpoint: string,
): string {
  const extra = JSON.stringify({ nonce: Buffer.from(nonce).toString('base64url'), record })
  const lines = ['c2sp.org/tlog-proof@v1', `extra ${base64(Buffer.from(extra))}`, `index ${index}`, ...path]
  return `${lines.join('\n')}\n\n${checkpoint}`
}

/** What comes from another thread is no `Buffer` any more. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

// C2SP signed-note with Ed25519: a text, and below it a line for each signature.

/** What signs notes under a name. */
export interface NoteSigner {
  /** How others know the key: `<name>+<id>+<key>`. */
  verifierKey: string
  /** The line that it puts below a text. */
  signatureLine(text: string): string
}

/** What stands before the 32 bytes of an Ed25519 seed in PKCS #8. */
const seedPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const ed25519 = Buffer.of(1)

/** A signer whose key is made of 32 bytes that nobody else knows. The name holds no space and no plus sign. */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  const key = createPrivateKey({ key: Buffer.concat([seedPrefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = Buffer.concat([ed25519, rawPublicKey(key)])
  const id = createHash('sha256').update(`${name}\n`).update(publicKey).digest().subarray(0, 4)
  return {
    verifierKey: `${name}+${id.toString('hex')}+${publicKey.toString('base64')}`,
    signatureLine(text) {
      const signature = sign(null, Buffer.from(text), key)
      return `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`
    },
  }
}

/** A text that ends with a newline, signed by all of them. */
function signNote(text: string, signers: readonly NoteSigner[]): string {
  return `${text}\n${signers.map((signer) => signer.signatureLine(text)).join('')}`
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
