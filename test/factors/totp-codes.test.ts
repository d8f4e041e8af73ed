import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acceptedStep, createTotpSecret, totpCode, totpStep, totpUri } from '../../src/factors/totp-codes.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'

/** The ASCII text 12345678901234567890 of RFC 6238, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

/** RFC 6238, appendix B, for SHA-1: seconds since 1970, and the last six of eight digits. */
const vectors = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const

describe('a one-time code', () => {
  test('matches RFC 6238', () => {
    for (const [seconds, code] of vectors) {
      const now = seconds * 1_000
      assert.equal(totpCode(secret, totpStep(now)), code)
      assert.equal(acceptedStep(secret, code, { now, lastStep: null }), totpStep(now))
    }
  })

  test('is accepted one step early or late, with spaces, and only once', () => {
    const now = 1_794_000_000_000
    const step = totpStep(now)
    const accept = (code: string, lastStep: number | null = null) =>
      acceptedStep(secret, code, { now, lastStep })
    for (const off of [-1, 0, 1]) {
      const code = totpCode(secret, step + off)
      assert.equal(accept(code), step + off)
      assert.equal(accept(` ${code.slice(0, 3)} ${code.slice(3)} `), step + off)
      assert.equal(accept(code, step + off), null)
      assert.equal(accept(code, step + 1), null)
    }
    for (const off of [-2, 2]) assert.equal(accept(totpCode(secret, step + off)), null)
    for (const text of ['', '12345', '1234567', 'abcdef', '１２３４５６']) assert.equal(accept(text), null)
  })

  test('has a secret of 160 bits, in the format that apps read', () => {
    const [one, other] = [createTotpSecret(systemRandomness), createTotpSecret(systemRandomness)]
    assert.match(one, /^[A-Z2-7]{32}$/)
    assert.notEqual(one, other)
    assert.equal(
      totpUri(secret, { label: 'ada@acme.example', issuer: 'Lethe (Acme: x)' }),
      `otpauth://totp/Lethe%20(Acme%3A%20x):ada%40acme.example?issuer=Lethe%20(Acme%3A%20x)&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    )
  })
})
