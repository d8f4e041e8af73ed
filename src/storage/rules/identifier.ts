import type { DerivedCounts, DerivedIdentifier, SourceRow } from '../../domain/identifier-derivation.ts'
import type { IncomingIdentifiers } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { maxPageBytes, type Page } from '../../domain/page.ts'
import {
  type BroughtIdentifier,
  comparableValue,
  isBroughtLater,
  maxIdentifiersPerSubject,
  type SubjectIdentifier,
} from '../../domain/subject-identifier.ts'
import { asInteger, asJson, asText, type Values } from '../nouns/row.ts'
import type { SubjectBatch } from './ingest-batch.ts'

/**
 * The identifiers in a subject's rows of one batch, each once, with the instant and spelling of the newest
 * row that contains it.
 */
export function broughtIdentifiers({ sessions, events }: SubjectBatch): BroughtIdentifier[] {
  // By exact spelling first: most rows of a subject repeat it.
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

/** A subject's identifiers in the store. */
export interface KnownIdentifiers {
  /** How many there are; the limit if there are more. */
  count: number
  has(identifier: SubjectIdentifier): boolean
}

/** How many identifiers a subject's rows contain, counting repetitions. */
export function countIdentifiers({ sessions, events }: SubjectBatch): number {
  let count = 0
  for (const rows of [sessions, events])
    for (const { identifiers } of rows) for (const _ in identifiers) count += 1
  return count
}

/** The subject without the rows whose new identifiers would be more than it may have. */
export function withinIdentifierLimit(subject: SubjectBatch, stored: KnownIdentifiers): SubjectBatch {
  let left = maxIdentifiersPerSubject - stored.count
  if (countIdentifiers(subject) <= left) return subject
  // As written, because most rows of a subject repeat them, and for comparison.
  const [written, compared] = [new Set<string>(), new Set<string>()]
  /** Those that the subject does not have yet; `null` if they are too many. */
  function freshIn(identifiers: IncomingIdentifiers): { text: string; key: string }[] | null {
    const fresh = []
    for (const [name, value] of Object.entries(identifiers)) {
      const text = `${name}\0${value}`
      if (written.has(text)) continue
      const key = `${name}\0${comparableValue({ name, value })}`
      if (compared.has(key) || stored.has({ name, value })) written.add(text)
      else if (fresh.push({ text, key }) > left) return null
    }
    return fresh
  }
  const fits = ({ identifiers }: { identifiers: IncomingIdentifiers | undefined }) => {
    const fresh = identifiers ? freshIn(identifiers) : []
    if (fresh === null) return false
    for (const { text, key } of fresh) {
      written.add(text)
      compared.add(key)
    }
    left -= fresh.length
    return true
  }
  return { ...subject, sessions: subject.sessions.filter(fits), events: subject.events.filter(fits) }
}

/** The SQL to update an identifier that already exists, shared by the engines. */
export const broughtAgain = `ON CONFLICT (subject_key, lookup_key) DO UPDATE
  SET value = excluded.value, brought_at = excluded.brought_at
  WHERE excluded.brought_at > identifiers.brought_at
    OR (excluded.brought_at = identifiers.brought_at AND excluded.value > identifiers.value)`

/** The number of rows read for a page. A page also ends at about one mebibyte of collected data. */
export const sourceRowsPerPage = 1_000

/**
 * How a field appears in stored JSON. It may also occur deeper or inside a text, so the rows are checked
 * again.
 */
export function fieldInJson(field: string): string {
  return `${JSON.stringify(field)}:`
}

/** A page of rows. It is the last one unless the limit on rows or bytes was reached. */
export function sourcePage(values: readonly Values[]): Page<SourceRow, SourceRow> {
  let bytes = 0
  for (const [, , facts] of values) if (typeof facts === 'string') bytes += Buffer.byteLength(facts)
  const rows = values.map(toSourceRow)
  const isLast = rows.length < sourceRowsPerPage && bytes < maxPageBytes
  return { rows, next: isLast ? null : (rows.at(-1) ?? null) }
}

function toSourceRow([id, at, facts]: Values): SourceRow {
  return {
    id: asText(id, 'id'),
    at: asInteger(at, 'at'),
    facts: facts === null ? null : asJson(facts, 'facts'),
  }
}

/** The parts of a stored identifier that decide whether it needs an update. */
export type StoredIdentifier = Pick<BroughtIdentifier, 'value' | 'broughtAt'>

/**
 * Those identifiers that are missing, or stored with an older instant. `countOf` tells how many the subject
 * of one has.
 */
export function missingOf<Derived extends DerivedIdentifier>(
  derived: readonly Derived[],
  find: (identifier: Derived) => StoredIdentifier | null,
  countOf: (identifier: Derived) => number,
): { missing: Derived[]; counts: DerivedCounts } {
  const counts = { added: 0, renewed: 0 }
  let refused = 0
  /** How many each subject then has. */
  const grown = new Map<string, number>()
  const missing = derived.filter((identifier) => {
    const stored = find(identifier)
    if (stored) {
      const isLater = isBroughtLater(identifier, stored)
      if (isLater) counts.renewed += 1
      return isLater
    }
    const count = grown.get(identifier.subjectId) ?? countOf(identifier)
    const isAllowed = count < maxIdentifiersPerSubject
    grown.set(identifier.subjectId, isAllowed ? count + 1 : count)
    if (isAllowed) counts.added += 1
    else refused += 1
    return isAllowed
  })
  return { missing, counts: { ...counts, ...(refused > 0 && { refused }) } }
}
