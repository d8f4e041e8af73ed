import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'

// Run by migrate.test.ts in several processes concurrently: opens a store that is not there yet and writes into it.
const [path = '', id = ''] = process.argv.slice(2)
const store = await openSqliteStore(path)
await store.organisations.create({ id, name: id, plan: 'free', createdAt: 1 })
await store.close()
