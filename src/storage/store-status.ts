import type { StoreStatus } from '../domain/store.ts'
import type { StoreAddress } from './open-store.ts'

/** Looks at the store at an address, whatever its version, and changes nothing there. Rejects when there is none, or it does not answer. */
export async function readStoreStatus(address: StoreAddress): Promise<StoreStatus> {
  if (address.engine === 'sqlite') {
    const { readSqliteStatus } = await import('./sqlite/store-status.ts')
    return readSqliteStatus(address.path)
  }
  const { readPostgresStatus } = await import('./postgres/store-status.ts')
  return readPostgresStatus(address.url)
}
