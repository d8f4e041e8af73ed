import type { CreateRequestBody } from './api.ts'
import type { Bytes } from './base64.ts'

/** A person: everyone known by one of these identifiers, and these data subjects: 1 to 32 in total. */
export type PersonRef = CreateRequestBody['person']

/** A request to create. */
export interface NewRequest {
  kind: CreateRequestBody['kind']
  person: PersonRef
  /** When the person asked; now if omitted. */
  receivedAt?: Date | string | undefined
  /** Your own name for it, without personal data: it is kept after the request is closed. */
  reference?: string | undefined
  /** A UUID; random if omitted. A request with the same ID and content is created once. */
  requestId?: string | undefined
}

/**
 * People by the ID of their request: the same for the same key, reference and person, so that a request is
 * created once. Without the key, nobody can tell from an ID whom it is about.
 */
export async function requestIdsOf(
  digest: (text: string) => Promise<Bytes>,
  reference: string,
  people: Iterable<PersonRef>,
): Promise<Map<string, PersonRef>> {
  const byId = new Map<string, PersonRef>()
  for (const person of people) {
    const { identifiers = [], subjects = [] } = person
    const names = identifiers.map(({ name, value }) => [name, value])
    const ids = subjects.map(({ trackerId, subjectId }) => [trackerId, subjectId])
    const requestId = uuidOf(await digest(JSON.stringify(['erasure', reference, names, ids])))
    if (!byId.has(requestId)) byId.set(requestId, person)
  }
  return byId
}

/** The first 16 bytes as a UUID of version 8, which is for content of one's own. */
function uuidOf(bytes: Bytes): string {
  const digits = Array.from(bytes.subarray(0, 16), (byte, i) => {
    if (i === 6) return (byte & 0x0f) | 0x80
    return i === 8 ? (byte & 0x3f) | 0x80 : byte
  }).map((byte) => byte.toString(16).padStart(2, '0'))
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
