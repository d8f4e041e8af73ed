import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { maxLogoBytes } from '../../src/domain/organisation-profile.ts'
import { logoDataUrl } from '../../src/operations/organisation-profile.ts'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { greenPng } from '../support/png.ts'
import { startShop } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = await openConsole(shop, shop.organisationId)
const { name } = (await shop.services.organisations.find(shop.organisationId)) ?? assert.fail()

const path = '/organisation/profile'
const logoPath = '/organisation/logo'
const typed = { displayName: '', contact: '', language: 'en' }
const empty = { organisation: name, displayName: null, contact: null, language: 'en', logo: null }
const post = (to: string, body: object) => client.ask(to, { method: 'POST', body })
const upload = (file: Buffer | string) => post(logoPath, { file: Buffer.from(file).toString('base64') })
const read = async () => dataOf(await client.ask(path))

/** Returns the logo as a browser requests it. */
const fetchLogo = () =>
  fetch(`${shop.url}/console/api${logoPath}?digest=x`, { headers: { cookie: String(client.cookie) } })

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 4"><path d="M0 0L8 4"/></svg>'

describe('the profile of an organisation in the console', () => {
  test('is empty at first, and then as saved', async () => {
    assert.deepEqual(await read(), empty)
    const contact = '\r\nAcme, Data Protection \r\n1 Main Street\nprivacy@acme.example\n\n'
    const saved = dataOf(await post(path, { displayName: ' Acme & Söhne ', contact, language: 'de' }))
    const expected = {
      ...{ ...empty, displayName: 'Acme & Söhne', language: 'de' },
      contact: 'Acme, Data Protection\n1 Main Street\nprivacy@acme.example',
    }
    assert.deepEqual(saved, expected)
    assert.deepEqual(await read(), expected)
    assert.deepEqual(dataOf(await post(path, { ...typed, displayName: name })), empty)
  })

  test('is rejected with the invalid fields, and stays unchanged', async () => {
    const refused: [body: object, fields: string[]][] = [
      [{ ...typed, displayName: 'x'.repeat(129) }, ['displayName']],
      [{ ...typed, displayName: 'a\nb' }, ['displayName']],
      [{ ...typed, contact: 'x'.repeat(501) }, ['contact']],
      [{ ...typed, contact: Array(9).fill('x').join('\n') }, ['contact']],
      [{ ...typed, displayName: 'a\u0000', contact: 'a\u0000' }, ['displayName', 'contact']],
      [{ ...typed, language: 'fr' }, ['language']],
    ]
    for (const [body, fields] of refused) assert.deepEqual(problemFields(await post(path, body)), fields)
    assert.deepEqual(await read(), empty)
  })

  test('is in the activity with the changed fields, if any', async () => {
    const headers = { 'x-request-id': 'profile-saved' }
    const body = { displayName: 'Other', contact: 'nobody-should-read-this', language: 'en' }
    for (let i = 0; i < 2; i++) dataOf(await client.ask(path, { method: 'POST', body, headers }))
    const entries = listIn(dataOf(await client.ask('/activity?requestId=profile-saved')), 'entries')
    assert.equal(entries.length, 1)
    assert.partialDeepStrictEqual(entries, [
      { kind: 'organisation.profile-changed', target: 'display name, contact' },
    ])
    dataOf(await post(path, typed))
  })
})

describe('the logo of an organisation', () => {
  test('returns 404 before one is set', async () => {
    errorOf(await client.ask(logoPath), 'not_found')
    assert.equal(await logoDataUrl(shop.services, shop.organisationId), null)
  })

  test('is a sanitized SVG, which cannot run scripts or load resources in its own tab', async () => {
    const saved = dataOf(await upload(svg.replace('<path', '<script>evil()</script><path onclick="evil()"')))
    assert.deepEqual(listIn(saved, 'removed'), ['script', 'onclick'])
    const { digest, ...size } = objectIn(saved, 'logo')
    assert.deepEqual(size, { width: 8, height: 4 })
    assert.match(String(digest), /^[0-9a-f]{64}$/)
    const response = await fetchLogo()
    const text = await response.text()
    assert.equal(
      text,
      '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="4" viewBox="0 0 8 4"><path d="M0 0L8 4"/></svg>',
    )
    assert.equal(response.headers.get('content-type'), 'image/svg+xml')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none';.* sandbox$/)
    const url = await logoDataUrl(shop.services, shop.organisationId)
    assert.equal(url, `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`)
  })

  test('can be a PNG, and can be removed', async () => {
    const png = greenPng(40, 20)
    const saved = dataOf(await upload(png))
    assert.partialDeepStrictEqual(objectIn(saved, 'logo'), { width: 40, height: 20 })
    const response = await fetchLogo()
    assert.equal(response.headers.get('content-type'), 'image/png')
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), png)
    const removed = await client.ask(logoPath, { method: 'DELETE', body: {} })
    assert.deepEqual(dataOf(removed), empty)
    errorOf(await client.ask(logoPath), 'not_found')
  })

  test('is not visible to another organisation', async () => {
    dataOf(await upload(svg))
    const stranger = await openConsole(shop, await shop.createOrganisation())
    errorOf(await stranger.ask(logoPath), 'not_found')
    assert.equal(dataOf(await stranger.ask(path)).logo, null)
    dataOf(await client.ask(logoPath, { method: 'DELETE', body: {} }))
  })

  const refused: [what: string, file: Buffer | string, message: RegExp][] = [
    ['another format', Buffer.from('ffd8ffe000104a464946', 'hex'), /neither an SVG image in UTF-8 nor a PNG/],
    ['a packed SVG', Buffer.from('1f8b0800', 'hex'), /neither an SVG/],
    ['a page', '<html xmlns="http://www.w3.org/1999/xhtml"/>', /is not an SVG image/],
    ['an SVG in UTF-16', Buffer.from(`\ufeff${svg}`, 'utf16le'), /neither an SVG/],
    ['broken XML', '<svg', /not well-formed XML \(line 1\)/],
    ['a PNG with text after it', Buffer.concat([greenPng(2, 2), Buffer.from('x')]), /incomplete PNG/],
    ['too large a PNG', greenPng(2_001, 2), /at most 2000 pixels wide and high, not 2001 × 2/],
  ]
  for (const [what, file, message] of refused) {
    test(`is rejected with the reason: ${what}`, async () => {
      const { details } = errorOf(await upload(file), 'validation_error')
      assert.match(JSON.stringify(details), message)
      assert.equal((await read()).logo, null)
    })
  }

  test('is limited to 64 KiB', async () => {
    const path = 'M0 0'.padEnd(maxLogoBytes - svg.length + 'M0 0L8 4'.length, ' ')
    const large = svg.replace('M0 0L8 4', path)
    assert.equal(large.length, maxLogoBytes)
    dataOf(await upload(large))
    assert.deepEqual(problemFields(await upload(`${large} `)), ['logo'])
    assert.deepEqual(problemFields(await upload(Buffer.alloc(maxLogoBytes + 3))), ['file'])
    assert.deepEqual(problemFields(await post(logoPath, { file: 'no base64!' })), ['file'])
    dataOf(await client.ask(logoPath, { method: 'DELETE', body: {} }))
  })

  test('is in the activity', async () => {
    const entries = listIn(dataOf(await client.ask('/activity?kind=organisation.profile-changed')), 'entries')
    const targets = entries.map((entry) => textIn(entry, 'target'))
    assert.deepEqual(targets.slice(0, 2), ['logo removed', 'logo'])
  })
})
