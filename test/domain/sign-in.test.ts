import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { markBrowser, readBrowserMark } from '../../src/domain/sign-in.ts'

const member = {
  id: 'mem_1',
  organisationId: 'acme',
  email: 'ada@acme.example',
  role: 'viewer',
  createdAt: 1,
  passwordSetAt: 1,
  isConnected: false,
  language: null,
} as const
const known = { member, passwordHash: 'scrypt$15$8$3$salt$key' }

describe('the mark of a browser', () => {
  it('identifies the browser to its member', () => {
    assert.equal(readBrowserMark(markBrowser('one', known), known), 'one')
  })

  it('is invalid after a change of the password, and for other members', () => {
    const mark = markBrowser('one', known)
    assert.equal(readBrowserMark(mark, { ...known, passwordHash: 'scrypt$15$8$3$salt$another' }), null)
    assert.equal(readBrowserMark(mark, { ...known, member: { ...member, id: 'mem_2' } }), null)
  })

  it('cannot be forged', () => {
    const [id, proof] = markBrowser('one', known).split('.')
    for (const mark of ['', '.', 'one', 'one.', `two.${proof}`, `${id}.${proof}A`, `.${proof}`, 'é.é']) {
      assert.equal(readBrowserMark(mark, known), null, mark)
    }
  })
})
