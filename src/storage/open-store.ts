import { MissingStore, type Store, type StoreStatus } from '../domain/store.ts'
import { placeOf, type StoreAddress } from './store-address.ts'

export { parseStoreAddress, placeOf, type StoreAddress } from './store-address.ts'

export interface OpenOptions {
  /** Create an empty store if there is none. Otherwise a missing store is an error. */
  create?: boolean
  /** Called with the location of a store that was created. */
  onCreated?(place: string): void
  /**
   * Let the embedded store write in this thread instead of starting another one, for a process that serves no
   * requests and writes little.
   */
  writesHere?: boolean
}

/**
 * Opens the store at an address and upgrades it if needed. Throws `MissingStore` if there is none and
 * `create` is not set: a mistyped address must not look like an empty store.
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

/** Whether there is a store at an address, of this version or an older one. Read-only. */
export async function storeExists(address: StoreAddress): Promise<boolean> {
  if (address.engine === 'sqlite') {
    const { sqliteStoreExists } = await import('./sqlite/open-sqlite-store.ts')
    return sqliteStoreExists(address.path)
  }
  const { postgresStoreExists } = await import('./postgres/open-postgres-store.ts')
  return postgresStoreExists(address.url)
}

/** Loads only the engine that is needed. */
async function openEngine(address: StoreAddress, writesHere: boolean): Promise<Store> {
  if (address.engine === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts')
    return openSqliteStore(address.path, { writesHere })
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts')
  return openPostgresStore(address.url)
}

/**
 * Reads the status of the store at an address, whatever its version. Read-only. Rejects if there is none or
 * it does not answer.
 */
export async function readStoreStatus(address: StoreAddress): Promise<StoreStatus> {
  if (address.engine === 'sqlite') {
    const { readSqliteStatus } = await import('./sqlite/store-status.ts')
    return readSqliteStatus(address.path)
  }
  const { readPostgresStatus } = await import('./postgres/store-status.ts')
  return readPostgresStatus(address.url)
}
