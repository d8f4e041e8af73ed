import { maxBatchRows } from '../../../src/operations/import/import-lines.ts'
import { killTests } from './kill-tests.ts'

killTests(
  {
    // So many times the import, and so many times PostgreSQL under it.
    imports: { kills: 10, rows: 3 * maxBatchRows },
    erasures: { kills: 12, rows: 60_000 },
    sweeps: { kills: 12, rows: 60_000 },
  },
  { leastInTime: 0.7 },
)
