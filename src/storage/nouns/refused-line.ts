import { type IngestStore, type RefusedLines, refusalReasons } from '../../domain/ingest.ts'
import type { Engine, Run } from './engine.ts'
import { integer, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const listRefused = statement('SELECT reason, lines FROM refused_lines')
const addRefused = statement(
  `INSERT INTO refused_lines AS known (reason, lines) VALUES (:reason, :lines)
   ON CONFLICT (reason) DO UPDATE SET lines = known.lines + excluded.lines`,
)

export const refusedLineTransactions = {
  async countRefused(run: Run, refused: RefusedLines): Promise<void> {
    // In one order, so that two imports cannot deadlock.
    for (const reason of refusalReasons) {
      if (refused[reason] > 0) await run(addRefused, { reason, lines: refused[reason] })
    }
  },
}

export function refusedLineStore(
  engine: Engine<typeof refusedLineTransactions>,
): Pick<IngestStore, 'countRefused' | 'refusedLines'> {
  return {
    countRefused: (lines) => engine.transact('countRefused', lines),
    refusedLines: async () => toRefusedLines(await engine.read(listRefused)),
  }
}

/** The counts in these rows; 0 for a reason without a row. */
function toRefusedLines(rows: readonly Row[]): RefusedLines {
  const known = new Map(rows.map((row) => [text(row, 'reason'), integer(row, 'lines')]))
  const of = (reason: (typeof refusalReasons)[number]) => known.get(reason) ?? 0
  return { bad: of('bad'), too_old: of('too_old'), of_erased: of('of_erased') }
}
