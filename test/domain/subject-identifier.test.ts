import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { comparableValue, lookupKey, sortIdentifiers } from '../../src/domain/subject-identifier.ts'

const key = (organisationId: string, name: string, value: string) =>
  Buffer.from(lookupKey(organisationId, { name, value })).toString('hex')

describe('the lookup key of an identifier', () => {
  it('never changes, because stores contain it', () => {
    assert.equal(key('acme', 'email', 'ada@example.com'), 'c152347b610ead32f3f9a803c56e5270')
  })

  it('is the same for an address in any case, but not for other identifiers', () => {
    assert.equal(key('acme', 'email', 'ÅDA@Example.COM'), key('acme', 'email', 'åda@example.com'))
    const keys = [
      key('acme', 'email', 'a'),
      key('acme', 'userId', 'a'),
      key('acme', 'userId', 'A'),
      key('acm', 'eemail', 'a'),
      key('other', 'email', 'a'),
    ]
    assert.equal(new Set(keys).size, keys.length)
  })

  it('is the same for every Unicode normalization, for any name', () => {
    const [composed, decomposed] = ['Jos\u00e9', 'Jose\u0301']
    for (const name of ['email', 'userId']) {
      assert.equal(key('acme', name, composed), key('acme', name, decomposed))
      // Two accents, one below and one above, in both orders and partly composed.
      const forms = ['\u1eb7', 'a\u0323\u0306', 'a\u0306\u0323', '\u1ea1\u0306', '\u0103\u0323']
      assert.equal(new Set(forms.map((form) => key('acme', name, form))).size, 1)
    }
    assert.equal(
      key('acme', 'email', 'J\u030c'),
      key('acme', 'email', '\u01f0'),
      'only the small one is composed',
    )
    assert.notEqual(
      key('acme', 'userId', '\ufb01'),
      key('acme', 'userId', 'fi'),
      'a ligature is a letter of its own',
    )
  })

  it('distinguishes addresses with letters that can be written as two', () => {
    const comparable = (value: string) => comparableValue({ name: 'email', value })
    assert.notEqual(comparable('straße@example.com'), comparable('strasse@example.com'))
  })
})

describe('the identifiers of a subject', () => {
  it('are ordered by name, then by value', () => {
    const shown = sortIdentifiers([
      { name: 'userId', value: '2' },
      { name: 'email', value: 'b' },
      { name: 'userId', value: '10' },
      { name: 'email', value: 'a' },
    ])
    assert.deepEqual(
      shown.map(({ name, value }) => `${name} ${value}`),
      ['email a', 'email b', 'userId 10', 'userId 2'],
    )
  })
})
