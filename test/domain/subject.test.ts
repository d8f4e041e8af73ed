import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { subjectKey } from '../../src/domain/subject.ts'

function hex(trackerId: string, subjectId: string): string {
  return Buffer.from(subjectKey(trackerId, subjectId)).toString('hex')
}

describe('the key of a subject', () => {
  it('is the same on every engine and never changes', () => {
    assert.equal(hex('shop', 'visitor-1'), '0d8873481a9817b6b8aa5d3d4c2b7c14')
    assert.equal(hex('läden', '🦦'), 'e90683a71e9103f388e6e37b3247e4e3')
  })

  it('has 16 bytes', () => assert.equal(subjectKey('shop', 'visitor-1').byteLength, 16))

  it('separates tracker and subject unambiguously', () => {
    assert.notEqual(hex('a', 'bc'), hex('ab', 'c'))
    assert.notEqual(hex('a', 'b'), hex('b', 'a'))
  })
})
