import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createKeyString, keyStringPattern, readKeyId } from '../../../../src/domain/api-key.ts'
import { withoutCredentials } from '../../../../src/domain/credential.ts'
import { Problems } from '../../../../src/domain/errors.ts'
import { isIdentifier } from '../../../../src/domain/identifier.ts'
import { decodeCursor, encodeCursor, readCursor } from '../../../../src/domain/page.ts'
import { checkProperty } from '../check-property.ts'
import { anyText, base62, identifierText, notIdentifierText, withOneChanged } from './texts.ts'

describe('a cursor', () => {
  const list = fc.array(fc.oneof(identifierText, fc.maxSafeInteger(), fc.constant(null)), { maxLength: 6 })
  const position = fc.record({ at: fc.maxSafeInteger(), id: identifierText })

  it('is decoded to its position, only for its own list', (t) =>
    checkProperty(
      t,
      fc.property(list, list, position, (own, other, { at, id }) => {
        const cursor = encodeCursor(own, at, id)
        assert.deepEqual(decodeCursor(own, cursor), { at, id })
        const isSame = JSON.stringify(own) === JSON.stringify(other)
        assert.equal(decodeCursor(other, cursor) === null, !isSame)
      }),
      { runs: 1_000 },
    ))

  it('is refused with one character changed', (t) => {
    const changed = fc
      .record({ list, position })
      .chain(({ list, position: { at, id } }) =>
        fc.record({ list: fc.constant(list), text: withOneChanged(encodeCursor(list, at, id)) }),
      )
    return checkProperty(
      t,
      fc.property(changed, ({ list, text }) => assert.equal(decodeCursor(list, text), null)),
      { runs: 1_000 },
    )
  })

  it('that was forged is refused, or is a position that the list could have', (t) =>
    checkProperty(
      t,
      fc.property(
        list,
        fc.oneof(fc.maxSafeInteger(), fc.double()),
        fc.oneof(anyText, notIdentifierText),
        (own, at, id) => {
          const read = decodeCursor(own, encodeCursor(own, at, id))
          assert.ok(read === null || (isIdentifier(read.id) && Number.isSafeInteger(read.at)))
        },
      ),
      { runs: 1_000 },
    ))

  it('is decoded to a position or refused with its field, for any text', (t) =>
    checkProperty(
      t,
      fc.property(fc.option(list), anyText, (own, text) => {
        const problems = new Problems()
        assert.equal(readCursor(own, text, problems) === null, problems.has('cursor'))
      }),
    ))
})

describe('a key string', () => {
  const issued = fc
    .record({ id: base62(16), secret: base62(32) })
    .map(({ id, secret }) => ({ id, text: createKeyString(id, { uuid: () => '', base62: () => secret }) }))

  it('contains its ID', (t) =>
    checkProperty(
      t,
      fc.property(issued, ({ id, text }) => {
        assert.match(text, keyStringPattern)
        assert.equal(readKeyId(text), id)
      }),
    ))

  it('is refused with one character changed, removed, added or swapped', (t) => {
    const damaged = issued.chain(({ text }) => {
      const at = fc.nat(text.length - 1)
      return fc.oneof(
        withOneChanged(text),
        at.map((i) => text.slice(0, i) + text.slice(i + 1)),
        fc
          .tuple(at, fc.string({ minLength: 1, maxLength: 3 }))
          .map(([i, more]) => text.slice(0, i) + more + text.slice(i)),
        at
          .map(
            (i) =>
              text.slice(0, i) +
              text
                .slice(i, i + 2)
                .split('')
                .reverse()
                .join('') +
              text.slice(i + 2),
          )
          .filter((other) => other !== text),
      )
    })
    return checkProperty(
      t,
      fc.property(damaged, (text) => assert.equal(readKeyId(text), null)),
      { runs: 3_000 },
    )
  })

  it('is removed from logged request IDs', (t) =>
    checkProperty(
      t,
      fc.property(issued, fc.string(), fc.string(), ({ text }, before, behind) => {
        assert.equal(withoutCredentials(before + text + behind).includes(text), false)
      }),
    ))

  it('is not found in random text', (t) =>
    checkProperty(
      t,
      fc.property(anyText, (text) => assert.equal(readKeyId(text), null)),
    ))
})
