import { type Bytes, decodeBase64 } from './base64.ts'
import { VerificationError } from './verification-error.ts'
import { hex, isKeyName, parseVerifierKey, type VerifierKey } from './verifier-key.ts'
import { verifyEd25519 } from './web-crypto.ts'

/** A C2SP signed-note with valid signatures. */
interface OpenedNote {
  /** The signed text, with its last newline. */
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
/** Control characters except the newline, and lone surrogates. */
const unfitForNotes = /[^\n\u0020-\u{10ffff}]|\p{Surrogate}/u

/** Opens a note. A given key must have signed it, and all signatures by given keys must be valid. */
export async function openNote(note: string, vkeys: readonly string[]): Promise<OpenedNote> {
  const keys = await Promise.all([...new Set(vkeys)].map(parseVerifierKey))
  const { text, signatures } = parseNote(note)
  const message = new TextEncoder().encode(text)
  const signers = new Set<VerifierKey>()
  for (const { name, keyId, bytes } of signatures) {
    // If two keys deliberately share a name and an ID, both must be valid.
    for (const key of keys.filter((each) => each.name === name && each.id === keyId)) {
      if (!(await verifyEd25519(key.publicKey, bytes, message))) {
        throw new VerificationError('bad_signature', `The signature by ${name}+${keyId} is not valid.`)
      }
      signers.add(key)
    }
  }
  if (signers.size === 0) {
    throw new VerificationError('unknown_key', 'None of the given keys signed the checkpoint.')
  }
  return { text, signers: [...signers] }
}

/** A change that editors or shells make to a signed text; `null` if there is none. */
export function editorsChange(text: string): string | null {
  if (text.startsWith('\ufeff')) return 'it begins with a byte order mark'
  return text.includes('\r\n') ? 'its lines end with CR LF instead of LF' : null
}

/** The text and the signatures of a note, not verified. */
export function parseNote(note: string): { text: string; signatures: Signature[] } {
  if (unfitForNotes.test(note)) throw malformed('it has characters that a signed note cannot have')
  const end = note.lastIndexOf('\n\n')
  if (end === -1) throw malformed('there is no empty line before its signatures')
  if (!note.endsWith('\n')) throw malformed('its last line has no newline')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures) throw malformed(`it has more than ${maxSignatures} signatures`)
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

function parseSignature(line: string): Signature {
  const [, name = '', encoded = ''] = signatureLine.exec(line) ?? []
  const bytes = decodeBase64(encoded)
  if (!isKeyName(name) || bytes === null || bytes.length < 5) throw malformed('a signature line is not valid')
  return { name, keyId: hex(bytes.subarray(0, 4)), bytes: bytes.slice(4) }
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_checkpoint', `The checkpoint is malformed: ${what}.`)
}
