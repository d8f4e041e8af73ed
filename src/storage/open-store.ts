import type { Store } from '../domain/store.ts'
import { openPostgresStore } from './postgres/open-postgres-store.ts'
import { openSqliteStore } from './sqlite/open-sqlite-store.ts'

/** Where the data lives. */
export type StoreAddress = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

/** Reads `sqlite:PATH` or `postgres://…`; `null` for anything else. */
export function parseStoreAddress(text: string): StoreAddress | null {
  if (/^postgres(?:ql)?:\/\/[^\s]+$/.test(text)) return { engine: 'postgres', url: text }
  const path = /^sqlite:(?<path>[^:?\0]+)$/.exec(text)?.groups?.path
  return path === undefined ? null : { engine: 'sqlite', path }
}

export interface OpenOptions {
  /** Refuse, with nothing made, where there is no store yet. */
  mustExist?: boolean
}

/** Opens the store at an address, created or upgraded as needed. */
export function openStore(address: StoreAddress, options: OpenOptions = {}): Promise<Store> {
  return address.engine === 'sqlite'
    ? openSqliteStore(address.path, options)
    : openPostgresStore(address.url, options)
}
