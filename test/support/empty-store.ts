import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Store } from '../../src/domain/store.ts'
import { type OpenOptions, openStore, parseStoreAddress } from '../../src/storage/open-store.ts'
import { freshStore } from './fresh-database.ts'
import type { Lifetime } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The address of an empty store that goes when the test does: SQLite, or what `LETHE_TEST_STORE` names. */
export async function emptyStore(lifetime: Lifetime): Promise<string> {
  const engine = process.env.LETHE_TEST_STORE || 'sqlite'
  if (engine === 'postgres') return freshStore(lifetime)
  assert.equal(engine, 'sqlite', 'LETHE_TEST_STORE takes sqlite or postgres')
  return `sqlite:${join(temporaryFolder(lifetime), 'lethe.db')}`
}

export function openStoreAt(address: string, options: OpenOptions = {}): Promise<Store> {
  const parsed = parseStoreAddress(address)
  assert.ok(parsed, 'the address of a store')
  return openStore(parsed, { create: true, ...options })
}
