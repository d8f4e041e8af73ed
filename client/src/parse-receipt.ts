import { type Bytes, decodeBase64, decodeBase64Url, decodeHash } from './base64.ts'
import { parseSize } from './parse-size.ts'
import { editorsChange } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'

/** The contents of a receipt, not verified. */
export interface ReceiptParts {
  nonce: Bytes
  /** The entry as it is in the tree. */
  record: string
  index: number
  proof: Bytes[]
  checkpoint: string
}

const heading = 'c2sp.org/tlog-proof@v1'

/** Parses a receipt: a C2SP tlog-proof whose extra data has the entry and its nonce. */
export function parseReceipt(receipt: string): ReceiptParts {
  const change = editorsChange(receipt)
  if (change !== null) throw malformed(change)
  if (!receipt.startsWith(`${heading}\n`)) throw malformed(`its first line is not ${heading}`)
  const end = receipt.indexOf('\n\n')
  if (end === -1) throw malformed('there is no empty line before its checkpoint')
  const [, extraLine = '', indexLine = '', ...hashes] = receipt.slice(0, end).split('\n')
  const extra = decodeBase64(after('extra ', extraLine))
  if (extra === null || extra.length === 0) throw malformed('its second line is not extra data in base64')
  const index = parseSize(after('index ', indexLine))
  if (index === null) throw malformed('its third line is not an index')
  const proof = hashes.map((line) => {
    const hash = decodeHash(line)
    if (hash === null) throw malformed('a line of its inclusion proof is not a hash in base64')
    return hash
  })
  return { ...parseExtra(extra), index, proof, checkpoint: receipt.slice(end + 2) }
}

function after(word: string, line: string): string {
  return line.startsWith(word) ? line.slice(word.length) : ''
}

/** Only canonical JSON with exactly these two fields is accepted. */
function parseExtra(extra: Bytes): Pick<ReceiptParts, 'nonce' | 'record'> {
  const text = decodeText(extra)
  const { nonce, record } = parseObject(text)
  const bytes = typeof nonce === 'string' ? decodeBase64Url(nonce) : null
  if (bytes?.length !== 32) throw malformed('its nonce is not 32 bytes in base64url')
  if (typeof record !== 'string') throw malformed('its extra data has no entry')
  if (JSON.stringify({ nonce, record }) !== text) throw malformed('its extra data is not canonical JSON')
  return { nonce: bytes, record }
}

function decodeText(bytes: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw malformed('its extra data is not text')
  }
}

function parseObject(text: string): Partial<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    throw malformed('its extra data is not JSON')
  }
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_receipt', `The receipt is malformed: ${what}.`)
}
