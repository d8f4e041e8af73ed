import { scrypt, timingSafeEqual } from 'node:crypto'
import { isCommonPassword } from './common-password.ts'
import type { Problems } from './errors.ts'
import { countCharacters } from './identifier.ts'
import type { Randomness } from './randomness.ts'

export const minPasswordLength = 12
export const maxPasswordLength = 256

/**
 * Any characters will do, since length is what makes a password hard to guess, unless it is among the first
 * that anyone would try. `words` belong to the member.
 */
export function checkPassword(password: string, words: readonly string[], problems: Problems): void {
  const length = countCharacters(password)
  if (length < minPasswordLength || length > maxPasswordLength || !password.isWellFormed()) {
    problems.add('password', `password must be ${minPasswordLength} to ${maxPasswordLength} characters`)
  } else if (isCommonPassword(password, words)) {
    problems.add(
      'password',
      'password must be harder to guess; use several words that do not belong together',
    )
  }
}

/** What anyone who attacks a member would try: the address and its parts, the organisation, the product. */
export function passwordWords(email: string, { id, name }: { id: string; name: string }): string[] {
  const [local = '', domain = ''] = email.split('@')
  return [email, local, domain, ...domain.split('.'), id, name, ...name.split(/\s+/), 'lethe']
}

/** Hashes and verifies passwords, a few at a time, because each takes much memory and time. */
export interface Passwords {
  /** Rejects with `rate_limited` if too many callers wait. */
  hash(password: string): Promise<string>
  /** Takes the same time without a hash. Rejects with `rate_limited` if too many callers wait. */
  matches(password: string, hash: string | null): Promise<boolean>
}

/** Needs 2^`cost` × `blockSize` × 128 bytes (32 MiB), `parallel` times. */
const strength = { cost: 15, blockSize: 8, parallel: 3 }
const keyBytes = 32

/** The hash includes its salt and parameters. */
export async function hashPassword(password: string, randomness: Randomness): Promise<string> {
  const salt = randomness.base62(22)
  const { cost, blockSize, parallel } = strength
  const key = await derive(password, salt, strength)
  return ['scrypt', cost, blockSize, parallel, salt, key.toString('base64url')].join('$')
}

/** Verified if there is no account, so that the time does not reveal which accounts exist. */
const dummyHash = `scrypt$${strength.cost}$${strength.blockSize}$${strength.parallel}$nobody$${'A'.repeat(43)}`

/** Without a hash, returns `false` after the same time. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, cost, blockSize, parallel, salt = '', key = ''] = (hash ?? dummyHash).split('$')
  const found = await derive(password, salt, {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallel: Number(parallel),
  })
  const wanted = Buffer.from(key, 'base64url')
  return wanted.length === found.length && timingSafeEqual(found, wanted) && hash !== null
}

/** Runs on Node's thread pool. */
function derive(
  password: string,
  salt: string,
  { cost, blockSize, parallel }: typeof strength,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const options = { N: 2 ** cost, r: blockSize, p: parallel, maxmem: 2 ** cost * blockSize * 128 * 2 }
  // Composed and decomposed letters look the same.
  scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) =>
    error ? reject(error) : resolve(key),
  )
  return promise
}
