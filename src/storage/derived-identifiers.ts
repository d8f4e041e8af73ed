import type { DerivationStore, DerivedIdentifier, SourceRow } from '../domain/identifier-derivation.ts'
import { maxPageBytes, type Page } from '../domain/page.ts'
import { type BroughtIdentifier, isBroughtLater } from '../domain/subject-identifier.ts'
import { asInteger, asJson, asText, type Values } from './nouns/row.ts'

/** How many rows are looked at for a page of them; it also ends at about a mebibyte of what was collected. */
export const sourceRowsPerPage = 1_000

/** What a field looks like in stored JSON. It may also stand deeper there, or in a text: whoever reads the rows looks again. */
export function fieldInJson(field: string): string {
  return `${JSON.stringify(field)}:`
}

/** A page of rows, which is the last one unless there were as many, or as large ones, as fit. */
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

/** An identifier that is stored, as far as it matters whether it is brought again. */
export type StoredIdentifier = Pick<BroughtIdentifier, 'value' | 'broughtAt'>

/** Those of some identifiers that are not stored, or of older rows; the same on every engine. */
export function missingOf<Derived extends DerivedIdentifier>(
  derived: readonly Derived[],
  find: (identifier: Derived) => StoredIdentifier | null,
): { missing: Derived[]; counts: Awaited<ReturnType<DerivationStore['add']>> } {
  const counts = { added: 0, renewed: 0 }
  const missing = derived.filter((identifier) => {
    const stored = find(identifier)
    if (stored && !isBroughtLater(identifier, stored)) return false
    counts[stored ? 'renewed' : 'added'] += 1
    return true
  })
  return { missing, counts }
}
