/** The maximum length of the ID of a tracker or a data subject, in code points. */
export const maxIdentifierLength = 256

/** No control characters, and neither `.` nor `..`, which URL parsers remove. */
export const identifierPattern = '^(?:\\.*[^.\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*|\\.{3,})$'

const identifier = new RegExp(identifierPattern, 'u')
const loneSurrogate = /\p{Surrogate}/u

/** Whether this can be the ID of a tracker or a data subject. */
export function isIdentifier(id: unknown): id is string {
  return (
    typeof id === 'string' &&
    identifier.test(id) &&
    !loneSurrogate.test(id) &&
    (id.length <= maxIdentifierLength || [...id].length <= maxIdentifierLength)
  )
}

/** An ID as a segment of a path. Throws for an invalid ID. */
export function pathSegment(name: string, id: string): string {
  if (!isIdentifier(id)) {
    throw new TypeError(
      `${name} must be 1 to ${maxIdentifierLength} characters, no control characters, not "." or "..".`,
    )
  }
  return encodeURIComponent(id)
}
