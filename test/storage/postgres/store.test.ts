import { after } from 'node:test'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { storeContract } from '../contract.ts'

const lifetime = inReverse({ after })
const databases = new Map<string, Promise<string>>()

storeContract('the PostgreSQL store', async (folder) => {
  const database = databases.get(folder) ?? freshDatabase(lifetime)
  databases.set(folder, database)
  return openPostgresStore(await database)
})
