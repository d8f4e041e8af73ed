import { hideSecrets } from '../domain/hide-secrets.ts'
import type { Store } from '../domain/store.ts'

/** Where the data lives. */
export type StoreAddress = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

/** Reads `sqlite:PATH` or `postgres://…`; `null` for anything else. */
export function parseStoreAddress(text: string): StoreAddress | null {
  if (/^postgres(?:ql)?:\/\/[^\s]+$/.test(text)) return { engine: 'postgres', url: text }
  const path = /^sqlite:(?<path>[^:?\0]+)$/.exec(text)?.groups?.path
  return path === undefined ? null : { engine: 'sqlite', path }
}

/** Where a store is, as it may be shown. */
export function placeOf(address: StoreAddress): string {
  return address.engine === 'sqlite' ? address.path : hideSecrets(address.url)
}

export interface OpenOptions {
  /** Refuse, with nothing made, where there is no store yet. */
  mustExist?: boolean
}

/** Opens the store at an address, created or upgraded as needed. Only the engine that is asked for is loaded. */
export async function openStore(address: StoreAddress, options: OpenOptions = {}): Promise<Store> {
  if (address.engine === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts')
    return openSqliteStore(address.path, options)
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts')
  return openPostgresStore(address.url, options)
}
