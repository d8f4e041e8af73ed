import { type Bytes, decodeBase64 } from './base64.ts'
import { VerificationError } from './verification-error.ts'
import { hex, isKeyName, parseVerifierKey, type VerifierKey } from './verifier-key.ts'
import { verifyEd25519 } from './web-crypto.ts'

/** A C2SP signed-note whose signatures are good. */
export interface OpenedNote {
  /** What is signed, with its last newline. */
  text: string
  /** The given keys that signed it, at least one. */
  signers: VerifierKey[]
}

interface Signature {
  name: string
  keyId: string
  bytes: Bytes
}

const maxSignatures = 100
const signatureLine = /^\u2014 ([^ ]+) ([^ ]+)$/u
/** Control characters but the newline, and halves of characters. */
const unfitForNotes = /[^\n\u0020-\u{10ffff}]|\p{Surrogate}/u

/**
 * Opens a note. Signatures by keys that were not given are passed over, whatever they are; one by a given key must be good, and there
 * must be one.
 */
export async function openNote(note: string, vkeys: readonly string[]): Promise<OpenedNote> {
  const keys = await Promise.all([...new Set(vkeys)].map(parseVerifierKey))
  const { text, signatures } = parseNote(note)
  const message = new TextEncoder().encode(text)
  const signers = new Set<VerifierKey>()
  for (const { name, keyId, bytes } of signatures) {
    // Of two keys that share a name and an id, which is no accident, both would have to be good.
    for (const key of keys.filter((each) => each.name === name && each.id === keyId)) {
      if (!(await verifyEd25519(key.publicKey, bytes, message))) {
        throw new VerificationError('bad_signature', `The signature by ${name}+${keyId} is not good.`)
      }
      signers.add(key)
    }
  }
  if (signers.size === 0) {
    throw new VerificationError('unknown_key', 'None of the given keys signed the checkpoint.')
  }
  return { text, signers: [...signers] }
}

/** How an editor or a shell visibly changed a text after it was signed; `null` if it did not. */
export function editorsChange(text: string): string | null {
  if (text.startsWith('\ufeff')) return 'it begins with a byte order mark'
  return text.includes('\r\n') ? 'its lines end with CR LF instead of LF' : null
}

function parseNote(note: string): { text: string; signatures: Signature[] } {
  if (unfitForNotes.test(note)) throw malformed('it has characters that no signed note has')
  const end = note.lastIndexOf('\n\n')
  if (end === -1) throw malformed('no empty line stands before its signatures')
  if (!note.endsWith('\n')) throw malformed('its last line has no end')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures) throw malformed(`it has more than ${maxSignatures} signatures`)
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

function parseSignature(line: string): Signature {
  const [, name = '', encoded = ''] = signatureLine.exec(line) ?? []
  const bytes = decodeBase64(encoded)
  if (!isKeyName(name) || bytes === null || bytes.length < 5) throw malformed('a signature line is none')
  return { name, keyId: hex(bytes.subarray(0, 4)), bytes: bytes.slice(4) }
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_checkpoint', `The checkpoint is malformed: ${what}.`)
}
