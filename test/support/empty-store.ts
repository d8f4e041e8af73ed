import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../src/domain/store.ts'
import { type OpenOptions, openStore, parseStoreAddress } from '../../src/storage/open-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import { freshStore } from './fresh-database.ts'
import type { Lifetime } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The address of an empty store on SQLite or `LETHE_TEST_STORE`, removed when the test ends. */
export async function emptyStore(lifetime: Lifetime): Promise<string> {
  const engine = process.env.LETHE_TEST_STORE || 'sqlite'
  if (engine === 'postgres') return freshStore(lifetime)
  assert.equal(engine, 'sqlite', 'LETHE_TEST_STORE takes sqlite or postgres')
  const path = join(temporaryFolder(lifetime), 'lethe.db')
  await writeEmptyStore(path)
  return `sqlite:${path}`
}

let making: Promise<Uint8Array> | null = null

/** Writes an empty SQLite store: a copy of the first one, which is faster than every migration. */
export async function writeEmptyStore(path: string): Promise<void> {
  making ??= makeEmptyStore()
  writeFileSync(path, await making, { mode: 0o600, flag: 'wx' })
}

async function makeEmptyStore(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-'))
  try {
    const path = join(folder, 'lethe.db')
    const store = await openSqliteStore(path, { writesHere: true })
    await store.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Opens the store at an address, and creates it if it does not exist. */
export async function openStoreAt(address: string, options: OpenOptions = {}): Promise<Store> {
  const parsed = parseStoreAddress(address)
  assert.ok(parsed, 'the address of a store')
  if (parsed.engine === 'sqlite' && !existsSync(parsed.path)) await writeEmptyStore(parsed.path)
  return openStore(parsed, { create: true, ...options })
}
