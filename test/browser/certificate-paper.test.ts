import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { dataOf, textIn } from '../support/answers.ts'
import { clientOf } from '../support/client.ts'
import { eraseWithRequest, openConsole } from '../support/console.ts'
import { missing } from '../support/missing.ts'
import { emails, recordNothingHeld } from '../support/nothing-held.ts'
import { greenPng } from '../support/png.ts'
import { startShop, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'
import { readQrCode } from './read-qr-code.ts'

const email = 'ada@example.com'
/** Enough for several pages. */
const devices = 70

describe('a certificate for people outside the organisation', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_BATCH_PACE: '1000000/second', LETHE_LEDGER_ORIGIN: 'ledger.acme.example' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId, 'desk@acme.example')
  const { verifierKeys } = await clientOf(shop).readLedger()
  const profile = { displayName: 'Acme "Coffee" GmbH', contact: 'privacy@acme.example', language: 'en' }
  for (const [path, body] of [
    ['/organisation/profile', profile],
    ['/organisation/logo', { file: greenPng(40, 20).toString('base64') }],
  ] as const)
    assert.equal((await client.ask(path, { method: 'POST', body })).status, 200)
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client)
  const { page } = seat
  const keyboard = new Keyboard(page)

  /** Erases everyone with an e-mail address, and opens the certificate. */
  async function erase(address: string, ...subjectIds: string[]): Promise<string> {
    await shop.ingest(subjectIds.flatMap((id) => visit(id, { events: 2, identifiers: { email: address } })))
    const identifiers = [{ name: 'email', value: address }]
    const id = await eraseWithRequest(shop, client, { identifiers }, subjectIds.length)
    return `/console/erasures/certificates/${id}`
  }

  async function open(address: string): Promise<string> {
    await page.goto(address)
    await page.getByRole('article').waitFor()
    await settled(page)
    return page.getByRole('article').innerText()
  }

  const [ofAda, ofMany] = [
    await erase(email, 'laptop', 'phone'),
    await erase('many@example.com', ...Array.from({ length: devices }, (_, i) => `device-${i}`)),
  ]

  test('states what happened first, then the counts, the entries and the checks, each once', async () => {
    const told = await open(ofAda)
    const parts = [
      'Acme "Coffee" GmbH',
      'Verified',
      'Certificate of erasure No. 1–2',
      'Everything we held about one person was erased.',
      'records\n2',
      'visits\n2',
      'events\n4',
      'desk@acme.example',
      'Entries in the ledger',
      '1 visit, 2 events',
      'All 2 entries are in the ledger',
      'The ledger is signed by ledger.acme.example/',
      'All 2 receipts are valid',
      'Check it yourself',
      ...verifierKeys,
    ]
    let at = -1
    for (const part of parts) {
      const next = told.indexOf(part, at + 1)
      assert.ok(next > at, `${part} is not in its place in ${told}`)
      at = next
    }
    assert.equal(told.split('is signed').length, 3, 'the check, and how to check it')
    const logo = page.getByRole('article').getByRole('img', { name: 'Logo' })
    const width = await logo.evaluate(async (image: HTMLImageElement) => {
      await image.decode()
      return image.naturalWidth
    })
    assert.equal(width, 40)
    assert.doesNotMatch(await page.content(), /laptop|phone|ada@example/)
    await assertAccessible(page, 'a certificate with a logo')
  })

  test('is available in German under its own address', async () => {
    await open(ofAda)
    await keyboard.reach('English')
    await page.keyboard.press('ArrowRight')
    const sentence = page.getByText('Alles, was wir über eine Person gespeichert hatten, wurde gelöscht.')
    await sentence.waitFor()
    assert.equal(new URL(page.url()).search, '?language=de')
    const told = await open(page.url())
    for (const text of [
      'Geprüft',
      'Bescheinigung über eine Löschung Nr. 1–2',
      '1 Besuch, 2 Ereignisse',
      'Durchgeführt von',
    ]) {
      assert.ok(told.includes(text), `${text} is not in ${told}`)
    }
    assert.match(told, /\d{1,2}\. \p{L}+ 20\d\d/u)
    assert.match(told, /\d\d\.\d\d\.20\d\d, \d\d:\d\d:\d\d/)
    assert.equal(await page.getByRole('article').getAttribute('lang'), 'de')
    await keyboard.reach('German')
    await page.keyboard.press('ArrowLeft')
    await page.getByText('Everything we held about one person was erased.').waitFor()
    await client.ask('/organisation/profile', { method: 'POST', body: { ...profile, language: 'de' } })
    await open(ofAda)
    await sentence.waitFor()
    await client.ask('/organisation/profile', { method: 'POST', body: profile })
  })

  test('has a code that opens the verification of exactly these receipts', async () => {
    await open(ofAda)
    const link = await readQrCode(page.locator('.qr-code'))
    assert.equal(
      link,
      await page
        .getByRole('article')
        .getByRole('link', { name: /^QR code/ })
        .getAttribute('href'),
    )
    const opened = new URL(link)
    assert.equal(`${opened.origin}${opened.pathname}`, `${shop.url}/verify`)
    const files: string[] = []
    page.on('download', async (download) => files.push(await download.path()))
    await keyboard.press('Download 2 receipts')
    await until(() => files.length === 2)
    // Another browser, without an account.
    const stranger = await openPage(browser, shop)
    await stranger.page.goto(link)
    assert.equal(await stranger.page.getByLabel('Verifier key').inputValue(), verifierKeys[0])
    const verified = stranger.page.getByText('These are the receipts of the certificate in the link.')
    const other = stranger.page.getByText('These are not the receipts of the certificate in the link')
    await stranger.page.getByLabel('Or choose files').setInputFiles(files)
    await verified.waitFor()
    await stranger.page.getByLabel('Or choose files').setInputFiles(files.slice(0, 1))
    await other.waitFor()
    assert.deepEqual(stranger.requested, [`${shop.url}/verify`], 'the digest was sent nowhere')
    await stranger.page.context().close()
  })

  test('has page numbers and its own number on every printed page', async (t) => {
    await open(ofMany)
    const margins = await page.evaluate(() =>
      [...document.styleSheets]
        .flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => rule instanceof CSSPageRule)
        .map(({ cssText }) => cssText)
        .join('\n'),
    )
    assert.match(margins, /@bottom-right \{[^}]*counter\(page\) " \/ " counter\(pages\)/)
    const pdf = await page.pdf({ format: 'A4' })
    const count = pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
    assert.ok(count > 2, `${count} pages`)
    const reason = missing('pdftotext')
    if (reason) return t.diagnostic(`the text of the pages was not read: ${reason}`)
    const file = join(temporaryFolder(t), 'certificate.pdf')
    writeFileSync(file, pdf)
    const pages = execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' })
      .split('\f')
      .slice(0, -1)
    assert.equal(pages.length, count)
    for (const [i, text] of pages.entries()) {
      assert.match(text, new RegExp(`\\b${i + 1} ?/ ?${count}\\s*$`))
      const head = /^\s*Acme "Coffee" GmbH · Certificate of erasure No\. 3–72\n/
      if (i === 0) assert.doesNotMatch(text, head)
      else assert.match(text, head)
      if (/\d visit, /.test(text)) assert.match(text, /No\. +Tracker +Erased +Time \(UTC\)/)
    }
  })

  test('states that no data was held, without counts of zero', async () => {
    const [nothing] = await recordNothingHeld(shop.services, shop.organisationId, emails('eva@example.com'))
    assert.ok(nothing)
    const told = await open(`/console/erasures/certificates/${nothing.ledgerIndex + 1}`)
    assert.match(told, /Certificate that nothing is held No\. 73\s+Nothing was held under one identifier\./)
    assert.match(told, /Searched on/)
    assert.doesNotMatch(told, /records|Carried out by|scrub/i)
    assert.doesNotMatch(told, /receipts? (is|are) valid/, 'nobody has the receipt here')
    await page.locator('.qr-code').waitFor()
  })

  test('states when a request was received, due and answered, and the number of days', async () => {
    const { keyString } = await shop.createKey(shop.organisationId)
    const send = async (path: string, body: object) =>
      dataOf(
        await shop.ask(`/v1/analytics/requests${path}`, {
          ...{ method: 'POST', key: keyString, body: JSON.stringify(body) },
          headers: { 'content-type': 'application/json' },
        }),
      )
    const identifiers = { email: 'grace@example.com' }
    await shop.ingest(visit('grace', { events: 2, identifiers }))
    const receivedAt = new Date(shop.services.clock() - 10 * 86_400_000).toISOString()
    const named = Object.entries({ ...identifiers, userId: '7' }).map(([name, value]) => ({ name, value }))
    const wanted = { kind: 'erasure', reference: 'DSR-2026-014', receivedAt, person: { identifiers: named } }
    const id = textIn(await send('', { ...wanted, person: { ...wanted.person, subjects: [] } }), 'requestId')
    await page.goto(`/console/erasures/certificates/${id}`)
    await page.getByText('No certificate yet').waitFor()
    await send(`/${id}/erase`, {})
    await until(async () => {
      const ref = { organisationId: shop.organisationId, id }
      return (await shop.services.privacyRequests.find(ref))?.state === 'done'
    })
    const told = await open(`/console/erasures/certificates/${id}`)
    assert.match(told, /Everything we held about one person was erased\./)
    for (const fact of [
      'Received on',
      'Due on',
      'after 10 days',
      'DSR-2026-014',
      'nothing was held (userId)',
    ]) {
      assert.ok(told.includes(fact), `${fact} is not in ${told}`)
    }
    assert.match(told, /All 2 receipts are valid/)
    await assertAccessible(page, 'the certificate of a request')
  })

  test('fits a small screen, with many entries and several erasers', async () => {
    await shop.ingest(visit('zoe'))
    const { keyString } = await shop.createKey(shop.organisationId, ['analytics:delete-data'])
    await shop.ask('/v1/analytics/trackers/shop/subjects/zoe', { key: keyString, method: 'DELETE' })
    const told = await open('/console/erasures/certificates/1,76')
    assert.match(told, /No\. 1, 76/)
    assert.match(told, /Everything we held in 2 records was erased\./)
    assert.match(told, /1 of 2 receipts are available and valid/)
    assert.match(told, /API key key-\d/)
    await page.setViewportSize({ width: 360, height: 740 })
    for (const address of [page.url(), `${ofMany}?language=de`]) {
      await open(address)
      const over = await overflowOf(page)
      assert.ok(over <= 0, `${over} pixels too wide`)
    }
    await page.setViewportSize({ width: 1280, height: 720 })
    assert.deepEqual(seat.complaints, [])
  })
})
