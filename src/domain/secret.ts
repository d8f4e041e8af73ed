import type { Instant } from './instant.ts'
import type { TombstoneKey } from './keyring.ts'
import type { HeadKeys } from './ledger.ts'

/** How many random bytes a secret of the installation has. */
export const secretBytes = 32

/** Reads a secret: its bytes in base64. `null` for any other text. */
export function parseSecret(text: string): Buffer | null {
  const secret = Buffer.from(text, 'base64')
  return secret.length === secretBytes && secret.toString('base64') === text ? secret : null
}

/** Throws when the store belongs to a secret that none of the keys comes from: with them nobody can tell who was erased under it. */
export function requireKeys(keys: readonly TombstoneKey[], known: readonly string[]): void {
  const missing = known.filter((each) => keys.every(({ fingerprint }) => fingerprint !== each))
  if (missing.length === 0) return
  throw new Error(
    `The secret was rotated after this process started: it does not have ${missing.join(', ')}, and cannot tell who was erased since. The current step was not carried out. Start again with the current secret file; what is done already is not done twice.`,
  )
}

export interface SecretStore {
  /** The fingerprints of all secrets with which something in the store was made. Empty for a new one. */
  list(): Promise<string[]>
  /**
   * Remembers fingerprints; those that are known already stay as they are. Hands back the ones that the store knows and that are not
   * among them: then nothing is changed. Whoever calls it concurrently comes before or after.
   */
  remember(fingerprints: readonly string[], now: Instant): Promise<string[]>
  /**
   * Takes over a store of version 0.2, in one transaction: authenticates the head of every ledger that has no MAC yet, and replaces the
   * fingerprints by which that version knew its secrets, older to newer. Returns the number of ledgers that it authenticated.
   */
  adopt(fingerprints: ReadonlyMap<string, string>, headKeys: HeadKeys): Promise<number>
}

/**
 * An address such as `postgres://…@db.example:5432/lethe?…`, as it may stand on a terminal or in a log: who signs in with which password,
 * and the parameters, which may hold one too, are left out. Of one in which it is not plain where they end, only the scheme is left.
 */
export function hideSecrets(address: string): string {
  const [scheme = ''] = /^[\w+.-]*:(?:\/\/)?/.exec(address) ?? []
  // Of several hosts, an address may have only one to be read as such.
  const [, first = address, others = ''] =
    /^([\w+.-]+:\/\/(?:[^/?#]*@)?[^@,/?#]*)(,[^@/?#]*)/.exec(address) ?? []
  const url = URL.parse(others === '' ? address : first + address.slice(first.length + others.length))
  // A password with a slash or a question mark in it ends the host too early, and the rest of it comes behind.
  if (!url || !scheme.endsWith('://') || /@/.test(url.pathname + url.search + url.hash)) return `${scheme}…`
  const signIn = url.username || url.password ? '…@' : ''
  const parameters = url.search || url.hash ? '?…' : ''
  return `${scheme}${signIn}${url.host}${others}${url.pathname}${parameters}`
}
