import { type RefusedLines, refusalReasons } from '../../domain/ingest.ts'
import { integer, type Row, text } from './row.ts'

/** What the rows of the table say; 0 where there is none. */
export function toRefusedLines(rows: readonly Row[]): RefusedLines {
  const known = new Map(rows.map((row) => [text(row, 'reason'), integer(row, 'lines')]))
  const of = (reason: (typeof refusalReasons)[number]) => known.get(reason) ?? 0
  return { bad: of('bad'), too_old: of('too_old'), of_erased: of('of_erased') }
}

/** What is to be added to each row, in the order of their keys; nothing for a reason without lines. */
export function toAdditions(lines: RefusedLines): { reason: string; lines: number }[] {
  return refusalReasons.map((reason) => ({ reason, lines: lines[reason] })).filter(({ lines }) => lines > 0)
}
