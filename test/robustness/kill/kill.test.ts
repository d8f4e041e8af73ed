import { killTests } from './kill-tests.ts'
import { killableSqlite } from './killable-sqlite.ts'

// A taste of what kill.soak.ts does at length. With so few kills chance may have it that many come late.
killTests('SQLite', killableSqlite, {
  imports: { kills: 1, rows: 1_000 },
  erasures: { kills: 1, rows: 4_000 },
  batches: { kills: 1, rows: 100 },
  sweeps: { kills: 1, rows: 6_000 },
  scrubs: { kills: 1, rows: 1_500 },
  mixed: { kills: 1, rows: 1_500 },
  leastInTime: 0.3,
})
