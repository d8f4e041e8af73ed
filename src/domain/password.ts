import { scrypt, timingSafeEqual } from 'node:crypto'
import type { Problems } from './errors.ts'
import { countCharacters } from './identifier.ts'
import type { Randomness } from './randomness.ts'

export const minPasswordLength = 12
export const maxPasswordLength = 256

/** Length is what makes a password hard to guess; what it is made of is its owner's business. */
export function checkPassword(password: string, problems: Problems): void {
  const length = countCharacters(password)
  if (length < minPasswordLength || length > maxPasswordLength || !password.isWellFormed()) {
    problems.add('password', `password must be ${minPasswordLength} to ${maxPasswordLength} characters`)
  }
}

/** Makes and tries hashes of passwords, a few at a time: each takes much memory and a fraction of a second. */
export interface Passwords {
  /** Rejects with `rate_limited` when too many wait already. */
  hash(password: string): Promise<string>
  /** Takes as long, and says no, where there is no hash. Rejects with `rate_limited` when too many wait already. */
  matches(password: string, hash: string | null): Promise<boolean>
}

/** What a guess costs: 2 to the power of `cost` blocks of 128 × `blockSize` bytes (32 MiB), `parallel` times over. */
const strength = { cost: 15, blockSize: 8, parallel: 3 }
const keyBytes = 32

/** A hash to keep of a password, with all that is needed to try one against it. */
export async function hashPassword(password: string, randomness: Randomness): Promise<string> {
  const salt = randomness.base62(22)
  const { cost, blockSize, parallel } = strength
  const key = await derive(password, salt, strength)
  return ['scrypt', cost, blockSize, parallel, salt, key.toString('base64url')].join('$')
}

/** Stands for a password nobody has, so that an account that is not there takes as long as one that is. */
const nobodys = `scrypt$${strength.cost}$${strength.blockSize}$${strength.parallel}$nobody$${'A'.repeat(43)}`

/** Whether a hash is that of this password. Takes as long, and says no, where there is no hash. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, cost, blockSize, parallel, salt = '', key = ''] = (hash ?? nobodys).split('$')
  const found = await derive(password, salt, {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallel: Number(parallel),
  })
  const wanted = Buffer.from(key, 'base64url')
  return wanted.length === found.length && timingSafeEqual(found, wanted) && hash !== null
}

/** In the pool of threads that Node keeps for such work, away from the event loop. */
function derive(
  password: string,
  salt: string,
  { cost, blockSize, parallel }: typeof strength,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const options = { N: 2 ** cost, r: blockSize, p: parallel, maxmem: 2 ** cost * blockSize * 128 * 2 }
  // Composed and decomposed letters look the same to whoever types them.
  scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) =>
    error ? reject(error) : resolve(key),
  )
  return promise
}
