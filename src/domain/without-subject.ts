const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A client may choose any request id; should it choose the subject's, neither the log nor the activity keeps it. */
export function withoutSubject(requestId: string, subjectId: string): string {
  if (uuid.test(requestId)) return requestId === subjectId ? '[subject]' : requestId
  if (requestId.includes(subjectId)) return requestId.replaceAll(subjectId, '[subject]')
  for (const reading of readingsOf(requestId)) if (reading.includes(subjectId)) return '[subject]'
  return requestId
}

/** What a text says to whoever undoes what is usually done to ids: in URLs, in JSON, in Base64, as digits. */
function* readingsOf(text: string): Generator<string> {
  if (/[%+]/.test(text)) yield fromUrl(text.replaceAll('+', ' '))
  if (text.includes('%')) yield fromUrl(text)
  if (text.includes('\\')) yield text.replaceAll(/\\u([0-9a-f]{4})/gi, toCharacter).replaceAll(/\\(.)/g, '$1')
  for (const [word] of text.matchAll(/[A-Za-z0-9+/_=-]{11,}/g)) {
    yield Buffer.from(word, 'base64').toString()
    if (/^[0-9a-f]+$/i.test(word)) yield Buffer.from(word, 'hex').toString()
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
