import { killTests } from './kill-tests.ts'
import { killableSqlite } from './killable-store.ts'

// A short version of kill.soak.ts. With so few kills, many may come too late by chance.
killTests('SQLite', killableSqlite, {
  requests: [{ kills: 2, rows: 15 }],
  lists: { kills: 2, rows: 300 },
  scrubs: { kills: 1, rows: 1_000 },
  mixed: { kills: 1, rows: 1_000 },
  minInTime: 0.3,
})
