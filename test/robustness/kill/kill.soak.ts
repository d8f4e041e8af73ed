import { after, before } from 'node:test'
import { transactionRows } from '../../../src/operations/import.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { killTests } from './kill-tests.ts'
import { killablePostgres, killableSqlite } from './killable-store.ts'

let postgres: PostgresServer
before(async () => {
  postgres = await startPostgres({})
})
after(() => postgres.remove())

// Scrubs are killed in two ways, this often each. On PostgreSQL, the server is killed as often as an import.
killTests('SQLite', killableSqlite, {
  imports: { kills: 40, rows: 5 * transactionRows },
  erasures: { kills: 125, rows: 20_000, minInTime: 100 },
  requests: [{ kills: 100, rows: 500 }],
  lists: { kills: 40, rows: 2_000 },
  sweeps: { kills: 40, rows: 100_000 },
  scrubs: { kills: 20, rows: 60_000 },
  mixed: { kills: 12, rows: 40_000 },
  minInTime: 0.8,
})
killTests(
  'PostgreSQL',
  killablePostgres(() => postgres),
  {
    imports: { kills: 10, rows: 3 * transactionRows },
    erasures: { kills: 125, rows: 20_000, minInTime: 100 },
    requests: [
      { kills: 50, rows: 500 },
      { kills: 50, rows: 500, processes: 2 },
    ],
    lists: { kills: 20, rows: 2_000 },
    sweeps: { kills: 12, rows: 60_000 },
    mixed: { kills: 6, rows: 20_000 },
    minInTime: 0.7,
  },
)
