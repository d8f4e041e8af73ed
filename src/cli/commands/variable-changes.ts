import type { VariableChange } from '../../domain/variable.ts'
import { legible, table } from '../progress.ts'

const maxShown = 40
/** How much of two values is shown before the first difference. */
const contextShown = 12

/** The changes as a table with shortened values, and a summary. */
export function changesInWords(version: number, changes: readonly VariableChange[]): string[] {
  if (changes.length === 0) return [`Nothing was changed. The current version is ${version}.`]
  const count = (kind: VariableChange['kind']) => changes.filter((change) => change.kind === kind).length
  return [
    ...table(['CHANGE', 'NAME', 'BEFORE', 'AFTER'], changes.map(row)),
    `Saved version ${version}: ${count('added')} added, ${count('changed')} changed, ${count('removed')} removed.`,
  ]
}

function row(change: VariableChange): string[] {
  const { kind, name } = change
  if (kind === 'added') return [kind, name, '', excerpt(change.after)]
  if (kind === 'removed') return [kind, name, excerpt(change.before), '']
  const start = differenceStart(JSON.stringify(change.before), JSON.stringify(change.after))
  return [kind, name, excerpt(change.before, start), excerpt(change.after, start)]
}

/** A value as JSON that fits into a table: some characters from `start` on. */
export function excerpt(value: unknown, start = 0): string {
  const rest = JSON.stringify(value).slice(start)
  const shown = rest.length > maxShown ? `${rest.slice(0, maxShown)}…` : rest
  return legible(`${start > 0 ? '…' : ''}${shown}`)
}

/** Where to begin, so that excerpts of both texts show how they differ. */
function differenceStart(before: string, after: string): number {
  let same = 0
  while (same < before.length && before[same] === after[same]) same += 1
  return same < maxShown - contextShown ? 0 : same - contextShown
}
