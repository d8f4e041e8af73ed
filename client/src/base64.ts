export type Bytes = Uint8Array<ArrayBuffer>

/** The bytes of standard base64 with padding (RFC 4648, section 4); `null` for any other way to write them. */
export function decodeBase64(text: string): Bytes | null {
  let characters: string
  try {
    characters = atob(text)
  } catch {
    return null
  }
  // Spaces, a missing padding, bits behind the last byte: none of them comes back.
  return btoa(characters) === text ? Uint8Array.from(characters, (each) => each.charCodeAt(0)) : null
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** The same for base64url without padding (section 5). */
export function decodeBase64Url(text: string): Bytes | null {
  const bytes = decodeBase64(
    text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat((4 - (text.length % 4)) % 4),
  )
  return bytes !== null && encodeBase64Url(bytes) === text ? bytes : null
}

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** A SHA-256 hash in standard base64; `null` where it is none. */
export function decodeHash(text: string): Bytes | null {
  const bytes = decodeBase64(text)
  return bytes?.length === 32 ? bytes : null
}
