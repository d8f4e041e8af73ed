export type Bytes = Uint8Array<ArrayBuffer>

/** Decodes standard base64 with padding (RFC 4648, section 4); `null` for any other encoding. */
export function decodeBase64(text: string): Bytes | null {
  let characters: string
  try {
    characters = atob(text)
  } catch {
    return null
  }
  // Rejects spaces, missing padding and extra bits, which do not survive a round trip.
  return btoa(characters) === text ? Uint8Array.from(characters, (each) => each.charCodeAt(0)) : null
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** Decodes base64url without padding (section 5). */
export function decodeBase64Url(text: string): Bytes | null {
  const bytes = decodeBase64(
    text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat((4 - (text.length % 4)) % 4),
  )
  return bytes !== null && encodeBase64Url(bytes) === text ? bytes : null
}

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes a SHA-256 hash in standard base64; `null` for anything else. */
export function decodeHash(text: string): Bytes | null {
  const bytes = decodeBase64(text)
  return bytes?.length === 32 ? bytes : null
}
