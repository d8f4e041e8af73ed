const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/** The digits of a UUID. */
export function hexDigits(uuid: string): string {
  return uuid.toLowerCase().replaceAll('-', '')
}

/** The text whose bytes hexadecimal digits are. */
export function textOfHex(digits: string): string {
  return Buffer.from(digits, 'hex').toString()
}

/** Adds the hyphens of a UUID to hexadecimal digits. */
export function asUuid(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Shorter texts occur in encoded data by chance. */
const minEncodedBytes = 3

/** The maximum length of an ID. Longer texts, such as lists of people, are checked only for the UUID. */
const maxEncodedLength = 256

/**
 * Whether a request ID chosen by the client contains a text, literally or encoded (URL, JSON, Base64,
 * hexadecimal). A request ID that reveals a subject must be neither logged nor stored.
 */
export function reveals(requestId: string, text: string): boolean {
  if (requestId === '' || text === '') return false
  if (isUuid(requestId)) return revealsInHex(hexDigits(requestId), text)
  const sought = fold(text)
  for (const reading of readingsOf(requestId)) if (fold(reading).includes(sought)) return true
  const bytes = Buffer.from(text)
  if (bytes.length < minEncodedBytes) return false
  return digitsOf(requestId).includes(bytes.toString('hex')) || holdsInBase64(requestId, bytes)
}

/**
 * The same for an ID of random hexadecimal digits, such as a UUID without its hyphens. It contains short
 * texts by chance, so only longer matches count.
 */
export function revealsInHex(digits: string, text: string): boolean {
  const sought = fold(text)
  const spelled = fold(textOfHex(digits))
  if (sought.includes(spelled) || sought.replaceAll('-', '').includes(digits)) return true
  if (text.length > maxEncodedLength) return false
  const bytes = Buffer.from(text)
  return bytes.length >= minEncodedBytes && digits.includes(bytes.toString('hex'))
}

/** Ignores case and Unicode composition. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function digitsOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^0-9a-f]/g, '')
}

/** Base64 encodes the same bytes in three ways, depending on their offset. */
function holdsInBase64(text: string, bytes: Buffer): boolean {
  const written = text.replaceAll('-', '+').replaceAll('_', '/')
  return [0, 1, 2].some((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Excludes characters that share bits with neighbouring bytes.
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return written.includes(own)
  })
}

/** The text itself, and decoded as a URL, up to three times, and as JSON. */
function* readingsOf(text: string): Generator<string> {
  yield text
  if (text.includes('\\')) yield text.replaceAll(/\\u([0-9a-f]{4})/gi, toCharacter).replaceAll(/\\(.)/g, '$1')
  for (let reading = text, times = 0; /[%+]/.test(reading) && times < 3; times++) {
    reading = fromUrl(reading)
    yield reading
    yield reading.replaceAll('+', ' ')
  }
}

/** Decodes each sequence separately, so that an invalid one does not hide the others. */
function fromUrl(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
}

function toCharacter(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}
