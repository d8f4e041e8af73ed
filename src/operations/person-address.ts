import { LetheError } from '../domain/errors.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type Person, refKey, type SubjectRef } from '../domain/person.ts'
import { comparableValue, type SubjectIdentifier, sortIdentifiers } from '../domain/subject-identifier.ts'
import { maxPersonParts } from './find-person.ts'

/**
 * What the console's pages have in their addresses instead of a person: encrypted, so that histories and
 * chats contain no personal data. The same person in any order and spelling has the same address.
 */
export function personAddress(
  keyring: Pick<Keyring, 'sealPerson'>,
  organisationId: string,
  { identifiers, subjects }: Person,
): string {
  const compared = identifiers.map(({ name, value }) => ({ name, value: comparableValue({ name, value }) }))
  const named = sortIdentifiers(compared).map(({ name, value }) => [name, value])
  const refs = subjects
    .toSorted((a, b) => (refKey(a) < refKey(b) ? -1 : 1))
    .map(({ trackerId, subjectId }) => [trackerId, subjectId])
  return keyring.sealPerson(organisationId, JSON.stringify([named, refs]))
}

/** Throws `validation_error` if it is not an address of this organisation. */
export function personAt(
  keyring: Pick<Keyring, 'openPerson'>,
  organisationId: string,
  address: string,
): Person {
  const text = keyring.openPerson(organisationId, address)
  if (text === null) {
    const message = 'address is not that of a person of your organisation'
    throw new LetheError('validation_error', 'Check address: see details.', [{ field: 'address', message }])
  }
  // Only `personAddress` can have sealed it.
  const [identifiers, subjects]: [[string, string][], [string, string][]] = JSON.parse(text)
  return {
    identifiers: identifiers.map(([name, value]) => ({ name, value })),
    subjects: subjects.map(([trackerId, subjectId]) => ({ trackerId, subjectId })),
  }
}

/** The person that a record belongs to: everyone with one of its identifiers, or only the record. */
export function personOfRecord(
  { identifiers }: { identifiers: Person['identifiers'] },
  ref: SubjectRef,
): Person {
  return identifiers.length > 0
    ? { identifiers: identifiers.slice(0, maxPersonParts), subjects: [] }
    : { identifiers: [], subjects: [ref] }
}

/** The person that a search found, by an identifier or by an ID; `null` if the ID is on too many trackers. */
export function personFound(
  identifier: SubjectIdentifier | null,
  records: readonly SubjectRef[],
): Person | null {
  if (identifier) return { identifiers: [identifier], subjects: [] }
  return records.length > maxPersonParts ? null : { identifiers: [], subjects: records }
}
