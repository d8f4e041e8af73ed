import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'

// Run by migrate.test.ts in concurrent processes: opens a store that does not exist yet, and writes to it.
const [path = '', id = ''] = process.argv.slice(2)
const store = await openSqliteStore(path)
await store.organisations.create({ id, name: id, plan: 'free', createdAt: 1 })
await store.close()
