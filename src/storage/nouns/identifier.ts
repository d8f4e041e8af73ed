import { inOrder, type SubjectIdentifier } from '../../domain/subject-identifier.ts'
import { asJson } from './row.ts'

/** Identifiers out of the JSON in which an engine gathers them: an array of pairs of name and value, in whatever order. */
export function toIdentifiers(value: unknown): SubjectIdentifier[] {
  if (value === '[]') return []
  const pairs = asJson<[name: string, value: string][]>(value, 'identifiers')
  return inOrder(pairs.map(([name, value]) => ({ name, value })))
}
