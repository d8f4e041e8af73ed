import { maxBatchRows } from '../../../src/operations/import/import-lines.ts'
import { killTests } from './kill-tests.ts'

killTests(
  {
    // Imports and scrubs are killed in two ways, so many times in each.
    imports: { kills: 20, rows: 5 * maxBatchRows },
    erasures: { kills: 40, rows: 100_000 },
    sweeps: { kills: 40, rows: 100_000 },
    scrubs: { kills: 20, rows: 60_000 },
    mixed: { kills: 12, rows: 40_000 },
  },
  { leastInTime: 0.8 },
)
