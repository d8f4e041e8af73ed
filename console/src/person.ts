import { change } from './api.ts'
import { cache } from './resource.ts'
import { navigate } from './router.tsx'
import type { Identifier, PersonRecords, SubjectRef } from './types.ts'

/** A person: everyone with one of these identifiers, and these records. */
export interface Person {
  identifiers: readonly Identifier[]
  subjects: readonly SubjectRef[]
}

/**
 * The page of a person. Its address is encrypted by the service, and in the fragment, which browsers do not
 * send: no URL, log or history contains the person.
 */
export function personPage(address: string): string {
  return `/console/person#${address}`
}

export function personKey(address: string): string {
  return `person ${address}`
}

/** Opens the page of a person whose address is not yet known. */
export async function openPerson(person: Person): Promise<void> {
  const found = await change<PersonRecords>('/person', { person })
  cache.setQueryData([personKey(found.address)], found)
  navigate(personPage(found.address))
}
