const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/** Fewer bytes are found in anything, once they are encoded. */
const minEncodedBytes = 3

/** As long as what a request names gets; a list of people is only looked through for a UUID. */
const maxEncodedLength = 256

/**
 * Whether a request id that a client chose tells a text to whoever reads it, as it stands or as ids are usually encoded: in a URL, in
 * JSON, in Base64, as digits. Neither the log nor the activity may keep one that tells whom a request is about.
 */
export function reveals(requestId: string, text: string): boolean {
  if (requestId === '' || text === '') return false
  const sought = fold(text)
  if (isUuid(requestId)) return revealsAsUuid(requestId, sought, text)
  for (const reading of readingsOf(requestId)) if (fold(reading).includes(sought)) return true
  const bytes = Buffer.from(text)
  if (bytes.length < minEncodedBytes) return false
  return digitsOf(requestId).includes(bytes.toString('hex')) || holdsInBase64(requestId, bytes)
}

/** A random one holds short texts by chance: it reveals what it is a part of, and what is spelled by its digits. */
function revealsAsUuid(requestId: string, sought: string, text: string): boolean {
  const digits = digitsOf(requestId)
  const spelled = fold(Buffer.from(digits, 'hex').toString())
  if (sought.includes(spelled) || sought.replaceAll('-', '').includes(digits)) return true
  if (text.length > maxEncodedLength) return false
  const bytes = Buffer.from(text)
  return bytes.length >= minEncodedBytes && digits.includes(bytes.toString('hex'))
}

/** What is the same to people: an accent has two ways to be written, and addresses are read without regard to case. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function digitsOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^0-9a-f]/g, '')
}

/** Base64 has three ways to write the same bytes, depending on how many come before. */
function holdsInBase64(text: string, bytes: Buffer): boolean {
  const written = text.replaceAll('-', '+').replaceAll('_', '/')
  return [0, 1, 2].some((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Characters that also hold bits of what is before or behind are left out.
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return written.includes(own)
  })
}

/** What a text says to whoever undoes what is usually done to ids: in URLs, once or more often, and in JSON. */
function* readingsOf(text: string): Generator<string> {
  yield text
  if (text.includes('\\')) yield text.replaceAll(/\\u([0-9a-f]{4})/gi, toCharacter).replaceAll(/\\(.)/g, '$1')
  for (let reading = text, times = 0; /[%+]/.test(reading) && times < 3; times++) {
    reading = fromUrl(reading)
    yield reading
    yield reading.replaceAll('+', ' ')
  }
}

/** Piece by piece, so that one that is broken does not hide the others. */
function fromUrl(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
}

function toCharacter(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}
