import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { always } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'

// Run by erasure.test.ts as a process, which is killed after the commit, while it waits for the log.
const [path = ''] = process.argv.slice(2)
const store = await openSqliteStore(path, { writesHere: true })
await eraseIn(store, { organisationId: 'acme', trackerId: 'shop', since: always }, 'anna')
