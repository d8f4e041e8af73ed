import { after } from 'node:test'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { storeContract } from '../contract.ts'

const databases = new Map<string, Promise<string>>()
const endings: (() => void | Promise<void>)[] = []

storeContract('the PostgreSQL store', async (folder) => {
  const url = databases.get(folder) ?? freshStore({ after: (work) => endings.push(work) })
  databases.set(folder, url)
  return openPostgresStore(await url)
})

after(async () => {
  for (const end of endings) await end()
})
