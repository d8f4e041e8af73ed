import { HOTP, Secret, TOTP } from 'otpauth'
import type { Instant } from '../domain/instant.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'

/** One-time codes of an authenticator app (TOTP, RFC 6238), with the parameters that every app supports. */
const parameters = { algorithm: 'SHA1', digits: 6 } as const
const periodSeconds = 30
const secretBytes = 20

/** How many steps the clock of a phone may be off, in either direction. */
const maxStepsOff = 1

/** The key shared with an app, in base32. */
export function createTotpSecret(randomness: Randomness): string {
  const bytes = Buffer.from(hashToken(createToken(randomness)), 'hex').subarray(0, secretBytes)
  return new Secret({ buffer: new Uint8Array(bytes).buffer }).base32
}

/** What an app reads from a QR code. */
export function totpUri(secret: string, { label, issuer }: { label: string; issuer: string }): string {
  return new TOTP({ ...parameters, period: periodSeconds, secret, label, issuer }).toString()
}

export function totpStep(at: Instant): number {
  return Math.floor(at / 1_000 / periodSeconds)
}

export function totpCode(secret: string, step: number): string {
  return HOTP.generate({ ...parameters, secret: Secret.fromBase32(secret), counter: step })
}

/**
 * The time step of a code, later than `lastStep`: a code that was used, or could have been, is not accepted
 * again. `null` for any other text.
 */
export function acceptedStep(
  secret: string,
  code: string,
  { now, lastStep }: { now: Instant; lastStep: number | null },
): number | null {
  const token = code.replaceAll(/\s/g, '')
  const from = Math.max(totpStep(now) - maxStepsOff, (lastStep ?? 0) + 1)
  const until = totpStep(now) + maxStepsOff
  let accepted: number | null = null
  for (let step = from; step <= until; step++) {
    const of = { ...parameters, secret: Secret.fromBase32(secret), counter: step, window: 0 }
    if (/^\d{6}$/.test(token) && HOTP.validate({ ...of, token }) === 0) accepted ??= step
  }
  return accepted
}
