import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { checkPassword, passwordWords } from '../../src/domain/password.ts'
import { createRecoveryCodes, hashRecoveryCode } from '../../src/domain/recovery-code.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'

const words = passwordWords('ada.lovelace@acme.example', { id: 'acme', name: 'Acme Analytics' })

function problemOf(password: string): string | undefined {
  const problems = new Problems()
  checkPassword(password, words, problems)
  return problems.list()[0]?.message
}

describe('a new password', () => {
  test('is rejected if it is easy to guess', () => {
    for (const password of [
      // On the list, in any case and with any surrounding spaces.
      ...['1qaz2wsx3edc', 'qwertyqwerty', 'QwertyQwerty', ' qwertyqwerty ', 'unbelievable', '123qwe123qwe'],
      ...['aaaaaaaaaaaa', 'abcabcabcabc', '12121212121212', 'xyzwxyzwxyzwx'],
      ...['abcdefghijklm', '123456789012', '0987654321098', 'zyxwvutsrqpon'],
      ...['ada.lovelace@acme.example', 'ada.lovelace1', 'Acme-Analytics!', 'lethe-lethe-1', 'acme2026lethe'],
    ]) {
      assert.match(String(problemOf(password)), /harder to guess/, password)
    }
  })

  test('may have any other characters', () => {
    for (const password of [
      ...['correct horse battery', 'lethe carries the barge', 'twelve chars', 'ünïcödé wörter'],
      ...['acme pays for ponies', 'fX9#kQ2$mL7!', '🦄🦄🐴🐴🦓🦓🐎🐎🎠🎠🏇🏇'],
    ]) {
      assert.equal(problemOf(password), undefined, password)
    }
  })
})

describe('recovery codes', () => {
  test('are ten different ones of 120 bits, and differ by member', () => {
    const codes = createRecoveryCodes(systemRandomness)
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^([0-9a-hjkmnp-tv-z]{6}-){3}[0-9a-hjkmnp-tv-z]{6}$/)
    assert.notEqual(hashRecoveryCode('one', 'code'), hashRecoveryCode('other', 'code'))
  })

  test('may be typed in capitals, without hyphens, and with letters for digits', () => {
    const hash = hashRecoveryCode('mem', '0a1b2c-3d4e5f-6g7h8j-9kmnpq')
    for (const typed of [
      '0A1B2C3D4E5F6G7H8J9KMNPQ',
      ' oalb2c-3d4e5f 6g7h8j-9kmnpq ',
      'OAIB2C 3D4E5F 6G7H8J 9KMNPQ',
    ])
      assert.equal(hashRecoveryCode('mem', typed), hash)
  })
})
