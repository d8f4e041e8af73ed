import { killTests } from './kill-tests.ts'
import { killableSqlite } from './killable-sqlite.ts'

// A taste of what kill.soak.ts does at length. With so few kills chance may have it that many come late.
killTests('SQLite', killableSqlite, {
  imports: { kills: 1, rows: 3_000 },
  erasures: { kills: 1, rows: 8_000 },
  batches: { kills: 1, rows: 150 },
  sweeps: { kills: 1, rows: 6_000 },
  scrubs: { kills: 1, rows: 3_000 },
  mixed: { kills: 1, rows: 3_000 },
  leastInTime: 0.3,
})
