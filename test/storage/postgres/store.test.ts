import { after } from 'node:test'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { storeContract } from '../contract.ts'

const databases = new Map<string, Promise<string>>()

storeContract('the PostgreSQL store', async (folder) => {
  const url = databases.get(folder) ?? freshDatabase({ after })
  databases.set(folder, url)
  return openPostgresStore(await url)
})
