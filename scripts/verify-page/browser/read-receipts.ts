const heading = 'c2sp.org/tlog-proof@v1'
const startOfReceipt = /^(?=c2sp\.org\/tlog-proof@v1\r?$)/m
/** Certificates are shorter. */
export const maxReceipts = 10_000

/**
 * The receipts in a text: one or several receipts as they are, or JSON that contains some, such as a
 * certificate or the lines of `lethe receipts get --json`. A text without any is returned whole, so that its
 * verification says what is wrong with it.
 */
export function readReceipts(text: string): string[] {
  const found = receiptsIn(parseAll(text.trim()))
  if (found.length > 0) return found
  // Copying easily loses the final newline or adds spaces.
  return text
    .trim()
    .split(startOfReceipt)
    .map((receipt) => `${receipt.trim()}\n`)
}

/** A JSON document, or one in each line; nothing if it is neither. */
function parseAll(text: string): unknown {
  if (!/^[[{"]/.test(text)) return []
  try {
    return JSON.parse(text)
  } catch {
    try {
      return text.split('\n').map((line) => (line.trim() === '' ? null : JSON.parse(line)))
    } catch {
      return []
    }
  }
}

/** In the order of the document. */
function receiptsIn(value: unknown): string[] {
  const found: string[] = []
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && found.length <= maxReceipts) {
    const next = waiting.pop()
    if (typeof next === 'string' && next.startsWith(`${heading}\n`)) found.push(next)
    if (typeof next === 'object' && next !== null) waiting.push(...Object.values(next).reverse())
  }
  return found
}

/** What a link to the page names: the digest of a certificate's entries, and keys. */
interface LinkedFacts {
  digest: string | null
  keys: string[]
}

/** Reads a fragment such as `#sha256=…&key=…`. */
export function readFragment(fragment: string): LinkedFacts {
  // A plus sign is part of a key, not a space.
  const fields = new URLSearchParams(fragment.replace(/^#/, '').replaceAll('+', '%2B'))
  return { digest: fields.get('sha256'), keys: fields.getAll('key') }
}
