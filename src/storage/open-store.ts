import type { Store } from '../domain/store.ts'
import { openSqliteStore } from './sqlite/open-sqlite-store.ts'

/** Where the data lives. */
export interface StoreAddress {
  engine: 'sqlite'
  path: string
}

/** Reads `sqlite:PATH`; `null` for anything else. */
export function parseStoreAddress(text: string): StoreAddress | null {
  const path = /^sqlite:(?<path>[^:?\0]+)$/.exec(text)?.groups?.path
  return path === undefined ? null : { engine: 'sqlite', path }
}

/** Opens the store at an address, created or upgraded as needed. */
export function openStore(address: StoreAddress): Promise<Store> {
  return openSqliteStore(address.path)
}
