import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { decodeCursor, encodeCursor, type ListIdentity, readCursor } from '../../src/domain/page.ts'

const list: ListIdentity = ['subjects', 'shop', 'lastSeenAt', null, 1_000, null]

/** Forges a cursor, which anyone can do, because the digest is not secret. */
function forge(payload: string): string {
  const encoded = Buffer.from(payload).toString('base64url')
  const digest = createHash('sha256')
    .update(JSON.stringify([list, encoded]))
    .digest('base64url')
  return digest.slice(0, 12) + encoded
}

describe('a cursor', () => {
  const positions: [at: number, id: string][] = [
    [0, 'a'],
    [-1, 'before 1970'],
    [1_700_000_000_000, 'visitor-1'],
    [Number.MAX_SAFE_INTEGER, 'x'.repeat(256)],
    [1, '🦦'.repeat(256)],
    [1, '\ud7ff\ue000\u{10ffff}'],
    [1, `'"\\/%_+&=? `],
    [1, '\u2028'],
  ]
  for (const [at, id] of positions) {
    it(`encodes ${at} and ${JSON.stringify(id.slice(0, 20))}`, () => {
      assert.deepEqual(decodeCursor(list, encodeCursor(list, at, id)), { at, id })
    })
  }

  it('needs no encoding in a query string', () => {
    for (const [at, id] of positions) assert.match(encodeCursor(list, at, id), /^[0-9A-Za-z_-]+$/)
  })

  it('can be forged, because its digest is not a signature', () => {
    assert.equal(forge(JSON.stringify([5, 'a'])), encodeCursor(list, 5, 'a'))
  })
})

describe('a cursor is rejected', () => {
  const cursor = encodeCursor(list, 1_700_000_000_000, 'visitor-1')

  it('if any character is changed', () => {
    for (let position = 0; position < cursor.length; position++) {
      for (const character of ['A', 'z', '0', '-', '_', '=', '+', '/', ' ', '\0', 'é', '🦦', '']) {
        const damaged = cursor.slice(0, position) + character + cursor.slice(position + 1)
        if (damaged !== cursor) assert.equal(decodeCursor(list, damaged), null, damaged)
      }
    }
  })

  it('if characters are inserted or appended', () => {
    for (let position = 0; position <= cursor.length; position++) {
      for (const character of ['A', '=', '\n', '%']) {
        const longer = cursor.slice(0, position) + character + cursor.slice(position)
        assert.equal(decodeCursor(list, longer), null, longer)
      }
    }
  })

  it('if it is truncated anywhere', () => {
    for (let length = 0; length < cursor.length; length++) {
      assert.equal(decodeCursor(list, cursor.slice(0, length)), null)
    }
  })

  const others: [what: string, list: ListIdentity][] = [
    ['kind of list', ['sessions', 'shop', 'lastSeenAt', null, 1_000, null]],
    ['tracker', ['subjects', 'shop2', 'lastSeenAt', null, 1_000, null]],
    ['sort', ['subjects', 'shop', '-lastSeenAt', null, 1_000, null]],
    ['bound', ['subjects', 'shop', 'lastSeenAt', null, 1_001, null]],
    ['bound at the other end', ['subjects', 'shop', 'lastSeenAt', null, null, 1_000]],
    ['type of a filter', ['subjects', 'shop', 'lastSeenAt', null, '1000', null]],
    ['number of filters', ['subjects', 'shop', 'lastSeenAt', null, 1_000]],
  ]
  for (const [what, other] of others) {
    it(`by a list that differs in its ${what}`, () => assert.equal(decodeCursor(other, cursor), null))
  }

  it('with a valid digest of an invalid payload', () => {
    const payloads = [
      '',
      'null',
      'true',
      '7',
      '"text"',
      '{}',
      '{"0":1,"1":"a","length":2}',
      '[]',
      '[1]',
      '["a"]',
      '[1,"a",2]',
      '["1","a"]',
      '[1,2]',
      '[1,null]',
      '[null,"a"]',
      '[1,["a"]]',
      '[[1],"a"]',
      '[1.5,"a"]',
      '[1e300,"a"]',
      '[9007199254740992,"a"]',
      '[1,"a"',
      '[1,"a"]]',
      '[NaN,"a"]',
      '['.repeat(100_000),
      '\xff\xfe',
    ]
    for (const payload of payloads)
      assert.equal(decodeCursor(list, forge(payload)), null, payload.slice(0, 40))
  })
})

describe('the cursor of a request', () => {
  const message = 'cursor must be the nextCursor of the page before, of the same list, sort and filters'
  const cursor = encodeCursor(list, 7, 'a')

  function read(of: ListIdentity | null, text: string | undefined) {
    const problems = new Problems()
    return { position: readCursor(of, text, problems), problems: problems.list() }
  }

  it('is absent on the first page', () => {
    assert.deepEqual(read(list, undefined), { position: null, problems: [] })
  })

  it('is the position to continue from', () => {
    assert.deepEqual(read(list, cursor), { position: { at: 7, id: 'a' }, problems: [] })
  })

  it('causes a problem if it is from another list', () => {
    const { position, problems } = read(['events'], cursor)
    assert.equal(position, null)
    assert.deepEqual(problems, [{ field: 'cursor', message }])
  })

  it('causes a problem if it is empty', () => {
    assert.deepEqual(read(list, '').problems, [{ field: 'cursor', message }])
  })

  it('is only checked for damage if the list itself is invalid', () => {
    assert.deepEqual(read(null, cursor).problems, [])
    assert.deepEqual(read(null, cursor.slice(0, -3)).problems, [{ field: 'cursor', message }])
  })
})
