import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { always } from '../../support/rows.ts'

// Run by crash.test.ts in a process of its own: erases the subject "anna", and is killed meanwhile.
const [path = ''] = process.argv.slice(2)
const store = await openSqliteStore(path)
// Starts the writer thread, so that the erasure begins the moment it is announced.
await store.organisations.setPlan('nobody', 'free')
process.stdout.write('erasing\n')
const start = performance.now()
await store.subjects.erase({ organisationId: 'acme', trackerId: 'shop', since: always }, 'anna')
process.stdout.write(`${performance.now() - start}\n`)
await store.close()
