import { writeSync } from 'node:fs'
import { openWriter } from '../../src/storage/sqlite/connection.ts'
import { migrate, migrations } from '../../src/storage/sqlite/migrate.ts'

// Upgrades the store at a path, prints a line before the upgrade is complete, and never ends.

const [path = ''] = process.argv.slice(2)
const db = openWriter(path)
// Pages that do not fit are written to the log before the commit, as in the upgrade of a large store.
db.exec('PRAGMA cache_size = 8')
db.function('halt', () => {
  writeSync(1, 'upgrading\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return null
})
migrate(db, path, [...migrations(), 'SELECT halt()'])
