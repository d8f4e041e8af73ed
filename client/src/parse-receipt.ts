import { type Bytes, decodeBase64, decodeBase64Url, decodeHash } from './base64.ts'
import { parseSize } from './parse-size.ts'
import { editorsChange } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'

/** What stands in a receipt, none of it verified. */
export interface ReceiptParts {
  nonce: Bytes
  /** The entry as it stands in the tree. */
  record: string
  index: number
  proof: Bytes[]
  checkpoint: string
}

const heading = 'c2sp.org/tlog-proof@v1'

/** Takes a receipt apart: a C2SP tlog-proof whose extra data hold the entry and its nonce. */
export function parseReceipt(receipt: string): ReceiptParts {
  const change = editorsChange(receipt)
  if (change !== null) throw malformed(change)
  if (!receipt.startsWith(`${heading}\n`)) throw malformed(`its first line is not ${heading}`)
  const end = receipt.indexOf('\n\n')
  if (end === -1) throw malformed('no empty line stands before its checkpoint')
  const [, extraLine = '', indexLine = '', ...hashes] = receipt.slice(0, end).split('\n')
  const extra = decodeBase64(after('extra ', extraLine))
  if (extra === null || extra.length === 0) throw malformed('its second line holds no extra data in base64')
  const index = parseSize(after('index ', indexLine))
  if (index === null) throw malformed('its third line holds no index')
  const proof = hashes.map((line) => {
    const hash = decodeHash(line)
    if (hash === null) throw malformed('a line of its inclusion proof is no hash in base64')
    return hash
  })
  return { ...parseExtra(extra), index, proof, checkpoint: receipt.slice(end + 2) }
}

function after(word: string, line: string): string {
  return line.startsWith(word) ? line.slice(word.length) : ''
}

/** There is one way to write it, canonical JSON with these two fields. */
function parseExtra(extra: Bytes): Pick<ReceiptParts, 'nonce' | 'record'> {
  const text = decodeText(extra)
  const { nonce, record } = parseObject(text)
  const bytes = typeof nonce === 'string' ? decodeBase64Url(nonce) : null
  if (bytes?.length !== 32) throw malformed('its nonce is not 32 bytes in base64url')
  if (typeof record !== 'string') throw malformed('its extra data hold no entry')
  if (JSON.stringify({ nonce, record }) !== text) throw malformed('its extra data are not canonical JSON')
  return { nonce: bytes, record }
}

function decodeText(bytes: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw malformed('its extra data are no text')
  }
}

function parseObject(text: string): Partial<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    throw malformed('its extra data are no JSON')
  }
}

function malformed(what: string): VerificationError {
  return new VerificationError('malformed_receipt', `The receipt is malformed: ${what}.`)
}
