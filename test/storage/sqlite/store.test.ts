import { join } from 'node:path'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { storeContract } from '../contract.ts'

storeContract('the embedded store', (folder) => openSqliteStore(join(folder, 'lethe.db')))
