import { killTests } from './kill-tests.ts'
import { killableSqlite } from './killable-store.ts'

// A taste of what kill.soak.ts does at length. With so few kills chance may have it that many come late.
killTests('SQLite', killableSqlite, {
  requests: [{ kills: 2, rows: 15 }],
  lists: { kills: 2, rows: 300 },
  scrubs: { kills: 1, rows: 1_000 },
  mixed: { kills: 1, rows: 1_000 },
  minInTime: 0.3,
})
