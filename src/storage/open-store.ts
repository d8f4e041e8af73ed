import { MissingStore, type Store, type StoreStatus } from '../domain/store.ts'
import { placeOf, type StoreAddress } from './store-address.ts'

export { parseStoreAddress, placeOf, type StoreAddress } from './store-address.ts'

export interface OpenOptions {
  /** Make an empty store where there is none. Without it there is none to open, and nothing is made. */
  create?: boolean
  /** Called with the place of a store that was made. */
  onCreated?(place: string): void
  /**
   * Let the embedded store write in this thread instead of starting another: for whoever has nobody else to answer, and writes little.
   */
  writesHere?: boolean
}

/**
 * Opens the store at an address, upgraded as needed. `MissingStore` where there is none, unless it may be made: a mistyped address
 * must not pass for an empty store.
 */
export async function openStore(
  address: StoreAddress,
  { create = false, onCreated, writesHere = false }: OpenOptions = {},
): Promise<Store> {
  const isThere = await storeExists(address)
  if (!isThere && !create) throw new MissingStore(placeOf(address))
  const store = await openEngine(address, writesHere)
  if (!isThere) onCreated?.(placeOf(address))
  return store
}

/** Whether there is a store at an address, of this version or an older one. Only looks. */
export async function storeExists(address: StoreAddress): Promise<boolean> {
  if (address.engine === 'sqlite') {
    const { sqliteStoreExists } = await import('./sqlite/open-sqlite-store.ts')
    return sqliteStoreExists(address.path)
  }
  const { postgresStoreExists } = await import('./postgres/open-postgres-store.ts')
  return postgresStoreExists(address.url)
}

/** Only the engine that is asked for is loaded. */
async function openEngine(address: StoreAddress, writesHere: boolean): Promise<Store> {
  if (address.engine === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts')
    return openSqliteStore(address.path, { writesHere })
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts')
  return openPostgresStore(address.url)
}

/** Looks at the store at an address, whatever its version, and changes nothing there. Rejects when there is none, or it does not answer. */
export async function readStoreStatus(address: StoreAddress): Promise<StoreStatus> {
  if (address.engine === 'sqlite') {
    const { readSqliteStatus } = await import('./sqlite/store-status.ts')
    return readSqliteStatus(address.path)
  }
  const { readPostgresStatus } = await import('./postgres/store-status.ts')
  return readPostgresStatus(address.url)
}
