import type { IncomingIdentifiers } from '../domain/ingest.ts'
import type { Instant } from '../domain/instant.ts'
import { type BroughtIdentifier, comparableValue, isBroughtLater } from '../domain/subject-identifier.ts'
import type { SubjectBatch } from './ingest-batch.ts'

/**
 * What a subject's rows of one batch say it is known by, each identifier once: with the instant of the newest row that brought it, and
 * written as there.
 */
export function broughtIdentifiers({ sessions, events }: SubjectBatch): BroughtIdentifier[] {
  // By how they are written first: most rows of a subject say the same.
  const written = new Map<string, BroughtIdentifier>()
  const add = (identifiers: IncomingIdentifiers, broughtAt: Instant) => {
    for (const name in identifiers) {
      const value = identifiers[name] ?? ''
      const key = `${name}\0${value}`
      const known = written.get(key)
      if (!known) written.set(key, { name, value, broughtAt })
      else if (known.broughtAt < broughtAt) known.broughtAt = broughtAt
    }
  }
  for (const { identifiers, endedAt } of sessions) if (identifiers) add(identifiers, endedAt)
  for (const { identifiers, occurredAt } of events) if (identifiers) add(identifiers, occurredAt)
  if (written.size < 2) return [...written.values()]
  const brought = new Map<string, BroughtIdentifier>()
  for (const identifier of written.values()) {
    const key = `${identifier.name}\0${comparableValue(identifier)}`
    const known = brought.get(key)
    if (!known || isBroughtLater(identifier, known)) brought.set(key, identifier)
  }
  return [...brought.values()]
}

/** How an identifier that is there already is brought again, in SQL: the same on every engine. */
export const broughtAgain = `ON CONFLICT (subject_key, lookup_key) DO UPDATE
  SET value = excluded.value, brought_at = excluded.brought_at
  WHERE excluded.brought_at > identifiers.brought_at
    OR (excluded.brought_at = identifiers.brought_at AND excluded.value > identifiers.value)`
