import { hash } from 'node:crypto'
import type { ActivityNote } from './activity.ts'
import { createToken, type Randomness } from './randomness.ts'

const recoveryCodeCount = 10

/** 120 bits, so that a fast hash is enough to store it. */
const codeBytes = 15
const groupLength = 6

/** Crockford's base32: no letters that look like digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Codes to sign in with when every other second factor is lost. Each can be used once. */
export function createRecoveryCodes(randomness: Randomness): string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    const bytes = hash('sha256', createToken(randomness), 'buffer').subarray(0, codeBytes)
    return toBase32(bytes).replaceAll(new RegExp(`.{${groupLength}}(?=.)`, 'g'), '$&-')
  })
}

function toBase32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => alphabet.charAt(Number.parseInt(five, 2)))
}

/** Case, spaces and hyphens do not count, nor whether somebody wrote o for 0, or i or l for 1. */
export function hashRecoveryCode(memberId: string, code: string): string {
  const typed = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1')
  return hash('sha256', `lethe recovery code ${memberId} ${typed}`, 'hex')
}

export interface RecoveryCodeStore {
  count(memberId: string): Promise<number>
  /** Replaces all codes of a member. */
  replace(memberId: string, hashes: readonly string[], note: ActivityNote): Promise<void>
}
