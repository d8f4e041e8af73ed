import type { Instant } from './instant.ts'
import type { TombstoneKey } from './keyring.ts'
import type { HeadKeys } from './ledger.ts'

export const secretBytes = 32

/** Parses base64; `null` for any other text. */
export function parseSecret(text: string): Buffer | null {
  const secret = Buffer.from(text, 'base64')
  return secret.length === secretBytes && secret.toString('base64') === text ? secret : null
}

/** Throws if the keys lack a secret of the store: subjects erased under it would not be recognised. */
export function requireKeys(keys: readonly TombstoneKey[], known: readonly string[]): void {
  const missing = known.filter((each) => keys.every(({ fingerprint }) => fingerprint !== each))
  if (missing.length === 0) return
  throw new Error(
    `The secret was rotated after this process started: it lacks ${missing.join(', ')} and cannot recognise people erased since. The current step was not carried out. Start again with the current secret file; finished work is not repeated.`,
  )
}

export interface SecretStore {
  /** The fingerprints of all secrets that the store was written with. Empty for a new store. */
  list(): Promise<string[]>
  /**
   * Stores fingerprints, unless the store has others; then returns those. Concurrent calls are serialised.
   */
  remember(fingerprints: readonly string[], now: Instant): Promise<string[]>
  /**
   * Upgrades a store of version 0.2 in one transaction: authenticates the head of every ledger without a MAC,
   * and replaces the fingerprints (old to new). Returns the number of ledgers authenticated.
   */
  adopt(fingerprints: ReadonlyMap<string, string>, headKeys: HeadKeys): Promise<number>
}

/**
 * Removes credentials and parameters, which may contain a password, from an address before it is printed or
 * logged. If it is unclear where they end, only the scheme is kept.
 */
export function hideSecrets(address: string): string {
  const [scheme = ''] = /^[\w+.-]*:(?:\/\/)?/.exec(address) ?? []
  // `URL.parse` accepts only one host.
  const [, first = address, others = ''] =
    /^([\w+.-]+:\/\/(?:[^/?#]*@)?[^@,/?#]*)(,[^@/?#]*)/.exec(address) ?? []
  const url = URL.parse(others === '' ? address : first + address.slice(first.length + others.length))
  // A slash or question mark in a password ends the host early; the rest of the password follows it.
  if (!url || !scheme.endsWith('://') || /@/.test(url.pathname + url.search + url.hash)) return `${scheme}…`
  const signIn = url.username || url.password ? '…@' : ''
  const parameters = url.search || url.hash ? '?…' : ''
  return `${scheme}${signIn}${url.host}${others}${url.pathname}${parameters}`
}
