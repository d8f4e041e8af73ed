import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

// A reference implementation of the ledger: the recursive definitions of RFC 6962, word for word, to check
// the optimised code against.

function sha256(...pieces: Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(pieces)).digest()
}

/** The largest power of two below `size`. */
function split(size: number): number {
  let k = 1
  while (k * 2 < size) k *= 2
  return k
}

/** The root over leaves: MTH in section 2.1. */
export function rootOf(leaves: readonly Uint8Array[]): Buffer {
  const [only] = leaves
  if (only === undefined) return sha256()
  if (leaves.length === 1) return sha256(Uint8Array.of(0), only)
  const k = split(leaves.length)
  return sha256(Uint8Array.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)))
}

/** The inclusion proof of a leaf: PATH in section 2.1.1. */
export function inclusionProof(index: number, leaves: readonly Uint8Array[]): Buffer[] {
  if (leaves.length <= 1) return []
  const k = split(leaves.length)
  return index < k
    ? [...inclusionProof(index, leaves.slice(0, k)), rootOf(leaves.slice(k))]
    : [...inclusionProof(index - k, leaves.slice(k)), rootOf(leaves.slice(0, k))]
}

/** The proof that the tree of the first `size` leaves is a prefix of the tree: PROOF in section 2.1.2. */
export function consistencyProof(size: number, leaves: readonly Uint8Array[]): Buffer[] {
  return size === 0 ? [] : subproof(size, leaves, true)
}

function subproof(size: number, leaves: readonly Uint8Array[], isWhole: boolean): Buffer[] {
  if (size === leaves.length) return isWhole ? [] : [rootOf(leaves)]
  const k = split(leaves.length)
  return size <= k
    ? [...subproof(size, leaves.slice(0, k), isWhole), rootOf(leaves.slice(k))]
    : [...subproof(size - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))]
}

/** A key that signs notes. The seed is 32 bytes. */
interface NoteSigner {
  name: string
  keyId: Buffer
  vkey: string
  privateKey: KeyObject
}

export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  // The DER prefix of the 32 bytes of an Ed25519 key (RFC 8410).
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const privateKey = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  const typed = Buffer.concat([Uint8Array.of(1), publicKey])
  const keyId = sha256(Buffer.from(`${name}\n`), typed).subarray(0, 4)
  return { name, keyId, vkey: `${name}+${keyId.toString('hex')}+${typed.toString('base64')}`, privateKey }
}

/** A text as a C2SP signed-note. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  const lines = signers.map(({ name, keyId, privateKey }) => {
    const signature = sign(null, Buffer.from(text), privateKey)
    return `\u2014 ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`
  })
  return `${text}\n${lines.join('')}`
}

/** The checkpoint of a ledger: its signed head. */
export function checkpointOf(
  origin: string,
  leaves: readonly Uint8Array[],
  signers: readonly NoteSigner[],
): string {
  return signNote(`${origin}\n${leaves.length}\n${rootOf(leaves).toString('base64')}\n`, signers)
}

/** An erasure to enter into a ledger. */
export interface ErasureToProve {
  trackerId: string
  subjectId: string
  nonce: Buffer
  sessions?: number
  events?: number
  erasedAt?: string
}

/** The entry of an erasure, as in the tree. */
export function recordOf(erasure: ErasureToProve): string {
  const { trackerId, subjectId, nonce, sessions = 3, events = 17 } = erasure
  const subject = createHmac('sha256', nonce).update(`${trackerId}\0${subjectId}`).digest('base64url')
  const erasedAt = erasure.erasedAt ?? '2026-11-17T08:00:00.000Z'
  const alreadyErased = sessions === 0
  const counts = `{"events":${events},"sessions":${sessions}}`
  const rest = `"erasedAt":"${erasedAt}","subject":"${subject}","trackerId":${JSON.stringify(trackerId)}`
  return `{"alreadyErased":${alreadyErased},"counts":${counts},${rest},"version":1}`
}

/** The entry that nothing was held about a person. The identifier's value must already be normalised. */
export function nothingHeldRecord(
  nonce: Uint8Array,
  { name, value }: { name: string; value: string },
  checkedAt = '2026-11-17T08:00:00.000Z',
): string {
  const person = createHmac('sha256', nonce).update(`${name}\0${value}`).digest('base64url')
  return `{"checkedAt":"${checkedAt}","kind":"nothing-held","person":"${person}","version":2}`
}

/** The text of a receipt, made from its parts. */
export function receiptText(parts: {
  nonce: Uint8Array
  record: string
  index: number
  proof: readonly Uint8Array[]
  checkpoint: string
}): string {
  const { nonce, record, index, proof, checkpoint } = parts
  const extra = JSON.stringify({ nonce: Buffer.from(nonce).toString('base64url'), record })
  const hashes = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')
  const first = `c2sp.org/tlog-proof@v1\nextra ${Buffer.from(extra).toString('base64')}\nindex ${index}\n`
  return `${first}${hashes}\n${checkpoint}`
}

/** The receipt of one of a ledger's erasures. */
export function makeReceipt(
  index: number,
  erasures: readonly ErasureToProve[],
  { origin, signers }: { origin: string; signers: readonly NoteSigner[] },
): string {
  const erasure = erasures[index]
  if (erasure === undefined) throw new Error(`There is no erasure ${index}.`)
  const leaves = erasures.map((each) => Buffer.from(recordOf(each)))
  const checkpoint = checkpointOf(origin, leaves, signers)
  const record = recordOf(erasure)
  return receiptText({
    nonce: erasure.nonce,
    record,
    index,
    proof: inclusionProof(index, leaves),
    checkpoint,
  })
}
