import { hideSecrets } from '../domain/hide-secrets.ts'

/** Where the data lives. */
export type StoreAddress = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

/** Reads `sqlite:PATH` or `postgres://…`; `null` for anything else. A drive and its colon belong to a path on Windows alone. */
export function parseStoreAddress(
  text: string,
  platform: NodeJS.Platform = process.platform,
): StoreAddress | null {
  if (/^postgres(?:ql)?:\/\/[^\s]+$/.test(text)) return { engine: 'postgres', url: text }
  const pattern =
    platform === 'win32' ? /^sqlite:(?<path>(?:[A-Za-z]:[\\/])?[^:?\0]+)$/ : /^sqlite:(?<path>[^:?\0]+)$/
  const path = pattern.exec(text)?.groups?.path
  return path === undefined ? null : { engine: 'sqlite', path }
}

/** Where a store is, as it may stand in a log. */
export function placeOf(address: StoreAddress): string {
  return address.engine === 'sqlite' ? address.path : hideSecrets(address.url)
}
