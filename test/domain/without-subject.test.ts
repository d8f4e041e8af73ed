import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutSubject } from '../../src/domain/without-subject.ts'

const ids = ['visitor-4711', 'ünï/cödé ?#', '🦦 otter', `quo"te's\\back`]

describe('a request id', () => {
  it('loses the subject’s id, and nothing else', () => {
    assert.equal(
      withoutSubject('erase visitor-4711, again visitor-4711', 'visitor-4711'),
      'erase [subject], again [subject]',
    )
    for (const kept of [
      'erase',
      'job 17',
      '100%',
      '%zz',
      '\\u12',
      'dmlzaXRvcg==',
      '48656c6c6f20776f726c64',
    ]) {
      assert.equal(withoutSubject(kept, 'visitor-4711'), kept)
    }
  })

  it('is not kept when it tells the subject’s id to whoever decodes it', () => {
    for (const id of ids) {
      const forms = [
        encodeURIComponent(id),
        encodeURIComponent(id).toLowerCase(),
        `erase+${encodeURIComponent(id).replaceAll('%20', '+')}`,
        `50%+${encodeURIComponent(id)}`,
        JSON.stringify(id),
        JSON.stringify(id).replaceAll(
          /[^ -~]/g,
          (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
        Buffer.from(`x${id}`).toString('base64'),
        `job ${Buffer.from(id).toString('base64url')}`,
        Buffer.from(id).toString('hex'),
      ]
      for (const form of forms) {
        const left = withoutSubject(form, id)
        assert.match(left, /\[subject\]/, `${form} of ${id}`)
        assert.ok(!left.includes(form) || form.includes(id), form)
      }
    }
  })

  it('that was made for the request stays, unless it is the id itself', () => {
    const made = '40480aaa-b841-4812-90dc-ba1f5bd75510'
    assert.equal(withoutSubject(made, 'b841'), made)
    assert.equal(withoutSubject(made, made), '[subject]')
  })
})
