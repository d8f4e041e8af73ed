import { decodeHash, encodeBase64 } from '../../../client/src/base64.ts'
import { type LedgerRecord, parseLedgerRecord } from '../../../client/src/ledger-record.ts'
import { combine, hashLeaf } from '../../../client/src/merkle-proof.ts'
import { parseReceipt, type ReceiptParts } from '../../../client/src/parse-receipt.ts'
import { parseNote } from '../../../client/src/signed-note.ts'
import { VerificationError } from '../../../client/src/verification-error.ts'
import { withoutExtraNewlines } from '../../../client/src/verifier-key.ts'
import { parseHead, type TreeHead, verifyCheckpoint } from '../../../client/src/verify-checkpoint.ts'
import { type ExpectedPerson, verifyPerson, verifyReceipt } from '../../../client/src/verify-receipt.ts'

/** A step of the verification: passed, failed, or not carried out because something was not entered. */
export interface Step {
  state: 'passed' | 'failed' | 'open'
  title: string
  sentence: string
  /** A text that the step is about. */
  text?: string
  /** Hashes in base64 that are combined into another. */
  hashes?: { left: string; right: string; isLeftOwn: boolean; combined: string }
  /** A hash in base64. */
  hash?: string
  /** The keys that were entered, and whether each made the signature. */
  keys?: { key: string; hasSigned: boolean }[]
}

/** `unknown` if the browser cannot verify it, `incomplete` if a key is missing. */
export type Verdict = 'verified' | 'refused' | 'incomplete' | 'unknown'

export interface Trace {
  verdict: Verdict
  /** Why it is not verified. */
  why: string | null
  steps: Step[]
  /** `null` if the receipt cannot be read. */
  parts: ReceiptParts | null
  record: LedgerRecord | null
  head: (TreeHead & { origin: string }) | null
  /** Whether it is about the person that was entered, which the verdict leaves out. */
  person: 'proven' | 'another' | 'open'
  /** Why it is about another person. */
  whyAnother: string | null
}

/** Verifies a receipt, and records each step as something to look at. */
export async function traceReceipt(
  receipt: string,
  verifierKeys: readonly string[],
  expected: ExpectedPerson,
): Promise<Trace> {
  const trace: Trace = {
    ...{ verdict: 'incomplete', why: null, steps: [], parts: null, record: null, head: null },
    ...{ person: 'open', whyAnother: null },
  }
  try {
    const parts = parseReceipt(receipt)
    trace.parts = parts
    const leafHash = await addEntry(trace, parts)
    const { origin, size, rootHash } = parseHead(parseNote(noteOf(parts)).text)
    trace.head = { origin, size, rootHash }
    await addPath(trace, parts, leafHash, trace.head)
  } catch (error) {
    addFailure(trace, trace.parts === null ? 'The receipt' : 'The checkpoint', error)
  }
  const { parts, head, record } = trace
  if (parts && head) await addSignature(trace, noteOf(parts), head.origin, verifierKeys)
  await judge(trace, receipt, verifierKeys)
  if (parts && record) await addPerson(trace, parts, record, expected)
  return trace
}

function noteOf({ checkpoint }: ReceiptParts): string {
  return withoutExtraNewlines(checkpoint)
}

/** The verdict is that of the client's own function. The steps only explain it. */
async function judge(trace: Trace, receipt: string, verifierKeys: readonly string[]): Promise<void> {
  const failed = trace.steps.find(({ state }) => state === 'failed')
  if (failed) {
    trace.verdict = 'refused'
    trace.why = failed.sentence
  }
  if (trace.verdict !== 'incomplete' || verifierKeys.length === 0) return
  await verifyReceipt(receipt, { verifierKeys })
  trace.verdict = 'verified'
}

async function addEntry(trace: Trace, { record }: ReceiptParts): Promise<Uint8Array<ArrayBuffer>> {
  const leafHash = await hashLeaf(new TextEncoder().encode(record))
  const title = 'The entry'
  try {
    trace.record = parseLedgerRecord(record)
    trace.steps.push({
      ...{ state: 'passed', title, text: record, hash: encodeBase64(leafHash) },
      sentence:
        'This is the entry of the ledger, as the receipt contains it. SHA-256 turns it into a hash, the leaf:',
    })
  } catch (error) {
    addFailure(trace, title, error, record)
  }
  return leafHash
}

/** Each hash of the proof, and whether the last one is the root. */
async function addPath(
  trace: Trace,
  { index, proof }: ReceiptParts,
  leafHash: Uint8Array<ArrayBuffer>,
  { size, rootHash }: TreeHead,
): Promise<void> {
  const path = await combine(index, leafHash, proof, size)
  let below = encodeBase64(leafHash)
  for (const [i, { sibling, isSiblingLeft, combined }] of (path ?? []).entries()) {
    const [own, other] = [below, encodeBase64(sibling)]
    const [left, right] = isSiblingLeft ? [other, own] : [own, other]
    below = encodeBase64(combined)
    trace.steps.push({
      ...{ state: 'passed', title: `Level ${i + 1}` },
      sentence: `The receipt supplies the hash on the ${isSiblingLeft ? 'left' : 'right'}, which stands for all entries on that side. Hashed together, both give the hash of the next level:`,
      hashes: { left, right, isLeftOwn: !isSiblingLeft, combined: below },
    })
  }
  const isRoot = path !== null && below === encodeBase64(decodeHash(rootHash) ?? new Uint8Array())
  const title = 'The root'
  const entries = size === 1 ? 'its only entry' : `entry ${index + 1} of ${size}`
  if (isRoot)
    trace.steps.push({
      ...{ state: 'passed', title, hash: rootHash },
      sentence: `The last hash is the root in the checkpoint. So the ledger contains this entry: it is ${entries}.`,
    })
  else
    trace.steps.push({
      ...{ state: 'failed', title, hash: rootHash },
      sentence:
        path === null
          ? `The receipt does not have the number of hashes that lead from entry ${index + 1} to the root of a ledger of ${size}.`
          : 'The last hash is not the root in the checkpoint: the entry, its number or one of the hashes was changed.',
    })
}

async function addSignature(
  trace: Trace,
  note: string,
  origin: string,
  verifierKeys: readonly string[],
): Promise<void> {
  const title = 'The signature'
  const { text, signatures } = parseNote(note)
  const signers = signatures.map(({ name, keyId }) => `${name} (key ID ${keyId})`).join(', ')
  if (verifierKeys.length === 0) {
    trace.steps.push({
      ...{ state: 'open', title, text },
      sentence: `The checkpoint claims to be signed by ${signers}. Enter the verifier key to check that.`,
    })
    return
  }
  const keysOf = (signed: readonly string[]) =>
    verifierKeys.map((key) => ({ key, hasSigned: signed.includes(key) }))
  try {
    const { verifiedBy } = await verifyCheckpoint(note, { verifierKeys })
    trace.steps.push({
      ...{ state: 'passed', title, text, keys: keysOf(verifiedBy) },
      sentence:
        'The checkpoint, which is the ledger’s name, its number of entries and the root, is signed with the key that you entered.',
    })
  } catch (error) {
    if (!(error instanceof VerificationError) || error.reason === 'unsupported')
      return addFailure(trace, title, error, text)
    trace.steps.push({
      ...{ state: 'failed', title, text, keys: keysOf([]) },
      sentence: refusalOf(error, signers, origin),
    })
  }
}

function refusalOf({ reason, message }: VerificationError, signers: string, origin: string): string {
  if (reason === 'unknown_key')
    return `None of the keys that you entered signed the checkpoint of ${origin}. It claims to be signed by ${signers}.`
  if (reason === 'bad_signature') return `${message} The checkpoint or its signature was changed, or forged.`
  return message
}

async function addPerson(
  trace: Trace,
  parts: ReceiptParts,
  record: LedgerRecord,
  { trackerId, subjectId, identifier }: ExpectedPerson,
): Promise<void> {
  const title = 'The person'
  const ofErasure = record.version === 1
  const what = ofErasure ? 'ID of the data subject' : 'identifier of the person'
  // A receipt answers one of the two questions.
  const expected = ofErasure
    ? { ...(trackerId !== undefined && { trackerId }), ...(subjectId !== undefined && { subjectId }) }
    : { ...(identifier && { identifier }) }
  try {
    const isProven = await verifyPerson(record, parts, expected)
    trace.person = isProven ? 'proven' : 'open'
    trace.steps.push({
      ...{ state: isProven ? 'passed' : 'open', title, text: ofErasure ? record.subject : record.person },
      sentence: isProven
        ? `With the receipt’s nonce as the key, HMAC-SHA-256 turns the ${what} that you entered into the digest in the entry. The entry is about this person.`
        : `The entry contains only a digest, which identifies nobody. Enter the ${what} to check whom it is about.`,
    })
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    trace.person = 'another'
    trace.whyAnother = error.message
    trace.steps.push({ ...{ state: 'failed', title }, sentence: error.message })
  }
}

function addFailure(trace: Trace, title: string, error: unknown, text?: string): void {
  if (!(error instanceof VerificationError)) throw error
  const state = error.reason === 'unsupported' ? 'open' : 'failed'
  if (state === 'open') {
    trace.verdict = 'unknown'
    trace.why = error.message
  }
  trace.steps.push({ state, title, sentence: error.message, ...(text !== undefined && { text }) })
}
