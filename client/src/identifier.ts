/** The longest id of a tracker or a data subject, in characters (code points). */
export const maxIdentifierLength = 256

/** No control characters, and neither `.` nor `..`, which whoever reads a URL swallows. */
export const identifierPattern = '^(?:\\.*[^.\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*|\\.{3,})$'

const identifier = new RegExp(identifierPattern, 'u')
const loneSurrogate = /\p{Surrogate}/u

/** Whether the service can know anything by this id. */
export function isIdentifier(id: unknown): id is string {
  return (
    typeof id === 'string' &&
    identifier.test(id) &&
    !loneSurrogate.test(id) &&
    (id.length <= maxIdentifierLength || [...id].length <= maxIdentifierLength)
  )
}

/** An id as a segment of a path. Throws for one that would lead somewhere else, or nowhere. */
export function pathSegment(name: string, id: string): string {
  if (!isIdentifier(id)) {
    throw new TypeError(
      `${name} must be 1 to ${maxIdentifierLength} characters, no control characters, not "." or "..".`,
    )
  }
  return encodeURIComponent(id)
}
