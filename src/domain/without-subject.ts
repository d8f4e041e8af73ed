const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A client may choose any request id; should it choose the subject's, neither the log nor the activity keeps it. */
export function withoutSubject(requestId: string, subjectId: string): string {
  if (!requestId.includes(subjectId)) return requestId
  const isMade = uuid.test(requestId) && requestId !== subjectId
  return isMade ? requestId : requestId.replaceAll(subjectId, '[subject]')
}
