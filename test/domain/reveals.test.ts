import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isUuid, reveals } from '../../src/domain/reveals.ts'

const ids = [
  ...['visitor-4711', 'ünï/cödé ?#', '🦦 otter', `quo"te's\\back`, 'anna', 'ada@example.com', 'a42'],
  'visitor-32060026',
]

/** The forms in which someone may write an ID in a request ID. */
function formsOf(id: string): string[] {
  const bytes = Buffer.from(id)
  const escaped = JSON.stringify(id).replaceAll(
    /[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const inUrl = encodeURIComponent(id)
  return [
    ...(/^[ -~]+$/.test(id) ? [id, `erase ${id}, again`, id.toUpperCase(), `x${id}x`] : []),
    ...[inUrl, inUrl.toLowerCase(), encodeURIComponent(inUrl), `50%+${inUrl}`],
    `erase+${inUrl.replaceAll('%20', '+')}`,
    ...[escaped, escaped.slice(1, -1)],
    ...['base64', 'base64url', 'hex'].flatMap((encoding) =>
      ['', 'x', 'xy', 'xyz'].flatMap((prefix) => {
        const encoded = Buffer.concat([Buffer.from(prefix), bytes]).toString(encoding as BufferEncoding)
        return [encoded, `job-${encoded}`, `job ${encoded}.1`, encoded.replaceAll('=', '')]
      }),
    ),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('hex').replaceAll(/../g, '$& ').trim(),
    bytes.toString('hex').replaceAll(/../g, '$&:'),
  ]
}

describe('a request ID', () => {
  it('reveals an ID that it contains, plain or encoded', () => {
    for (const id of ids) for (const form of formsOf(id)) assert.ok(reveals(form, id), `${form} of ${id}`)
  })

  it('reveals an ID whose bytes are the digits of a UUID', () => {
    const digits = Buffer.from('visitor-32060026').toString('hex')
    const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    assert.ok(isUuid(uuid))
    assert.ok(reveals(uuid, 'visitor-32060026'))
    assert.ok(reveals(uuid, 'visitor-3206'))
  })

  it('does not reveal an ID that it does not contain', () => {
    for (const kept of [
      ...['erase', 'job 17', '100%', '%zz', '\\u12', 'dmlzaXRvcg==', '48656c6c6f20776f726c64', ''],
    ]) {
      assert.equal(reveals(kept, 'visitor-4711'), false, kept)
    }
    assert.equal(reveals('anything', ''), false)
  })

  it('that is a UUID reveals only an equal ID, or one whose bytes it contains', () => {
    const made = '40480aaa-b841-4812-90dc-ba1f5bd75510'
    for (const id of ['b841', '4', '9', '40480aaa', 'anna']) assert.equal(reveals(made, id), false, id)
    for (const id of [made, made.toUpperCase(), made.replaceAll('-', ''), `visitor-${made}`])
      assert.ok(reveals(made, id), id)
    assert.ok(reveals(made.toUpperCase(), made))
  })
})
