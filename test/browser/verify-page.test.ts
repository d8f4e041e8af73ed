import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { verifyPage } from '../../scripts/verify-page/verify-page.ts'
import { makeReceipt, noteSigner } from '../support/make-receipt.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, overflowOf } from './browser.ts'

const file = new URL('../../docs/verify.html', import.meta.url)
const origin = 'lethe.local/acme'
const signer = noteSigner(origin, seed('acme'))
const erasures = ['anna', 'ben', '<b>carla</b>'].map((subjectId) => {
  return { trackerId: 'shop <1>', subjectId, nonce: seed(subjectId) }
})
const receipt = makeReceipt(2, erasures, { origin, signers: [signer] })

function seed(words: string): Buffer {
  return createHash('sha256').update(words).digest()
}

test('docs/verify.html is up to date', async () => {
  assert.equal(readFileSync(file, 'utf8'), await verifyPage())
})

describe('the page that verifies receipts', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const browser = await openBrowser({ after })

  /** Opens the page from its file, offline. */
  async function openPage(options: BrowserContextOptions = {}, address = file.href) {
    const context = await browser.newContext({ offline: true, reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(15_000)
    const requested: string[] = []
    const complaints: string[] = []
    context.on('request', (request) => requested.push(request.url()))
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(address)
    /** Fills in and submits the form, and returns the result as shown. */
    async function verify(fields: { receipt?: string; key?: string; tracker?: string; subject?: string }) {
      const { receipt: pasted = receipt, key = signer.vkey, tracker = '', subject = '' } = fields
      await page.evaluate(fillIn, [pasted, key, tracker, subject])
      await page.locator('#result h2').waitFor()
      return await page.locator('#result').innerText()
    }
    return { page, requested, complaints, verify }
  }

  const whole = { tracker: 'shop <1>', subject: '<b>carla</b>' }
  const { page, requested, complaints, verify } = await openPage()

  test('verifies a pasted receipt offline, without any request', async () => {
    const told = await verify(whole)
    assert.match(told, /^Verified\n/)
    assert.match(told, /sessions 3, events 17\. The data subject ID matches\./)
    for (const fact of ['2026-11-17T08:00:00.000Z', 'shop <1>', origin, 'No. 3 of 3', signer.vkey]) {
      assert.ok(told.includes(fact), fact)
    }
    assert.deepEqual(requested, [file.href])
    assert.deepEqual(complaints, [])
  })

  test('says so when it is not proven whose data was erased', async () => {
    assert.match(await verify({}), /^Verified\n.*It is not proven whose data it was/s)
  })

  test('accepts a receipt with missing or extra whitespace at its ends, and several keys', async () => {
    const other = noteSigner(origin, seed('another'))
    const key = `${other.vkey}\n  ${signer.vkey}\n`
    assert.match(await verify({ ...whole, receipt: `\n ${receipt.trimEnd()}`, key }), /^Verified\n/)
  })

  test('rejects an invalid receipt, and says why', async () => {
    const stranger = noteSigner(origin, seed('a forger'))
    const cases = [
      [{ ...whole, subject: 'anna' }, 'The receipt is of another data subject.'],
      [{ ...whole, tracker: 'blog' }, 'The receipt is of another tracker.'],
      [{ key: stranger.vkey }, 'None of the given keys signed the checkpoint.'],
      [{ key: 'lethe.local/acme' }, 'it is not of the form name+id+base64'],
      [{ receipt: receipt.replace('index 2', 'index 1') }, 'does not show that the entry is at index 1'],
      [{ receipt: 'Hello' }, 'its first line is not c2sp.org/tlog-proof@v1'],
    ] as const
    for (const [fields, why] of cases) {
      const told = await verify(fields)
      assert.match(told, /^Not verified\n/)
      assert.ok(told.includes(why), told)
    }
  })

  test('removes its result as soon as a field changes', async () => {
    await verify(whole)
    await page.getByLabel('Data subject ID').fill('anna')
    assert.equal(await page.locator('#result').innerText(), '')
  })

  test('can be used with the keyboard alone', async () => {
    await page.reload()
    const keyboard = new Keyboard(page)
    await keyboard.reach('Receipt')
    await page.keyboard.insertText(receipt)
    await keyboard.reach('Verifier key')
    await page.keyboard.insertText(signer.vkey)
    await keyboard.press('Verify receipt')
    await page.getByRole('heading', { name: 'Verified', exact: true }).waitFor()
  })

  test('is accessible in light and dark, with and without a result', async () => {
    await page.reload()
    await assertAccessible(page, 'empty')
    await verify(whole)
    await assertAccessible(page, 'verified')
    await verify({ ...whole, subject: 'anna' })
    await assertAccessible(page, 'refused')
  })

  test('fits a small screen without overflowing, and is accessible there', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    for (const fields of [{ ...whole, subject: 'anna' }, whole]) {
      await verify(fields)
      const over = await overflowOf(page)
      assert.ok(over <= 0, `${over} pixels too wide`)
    }
    await assertAccessible(page, 'narrow', { coloursAreKnown: true })
  })

  test('does not reject a receipt if the browser cannot verify it', async () => {
    await page.evaluate(() => {
      const old = new DOMException('Unrecognized name.', 'NotSupportedError')
      crypto.subtle.verify = () => Promise.reject(old)
    })
    assert.match(await verify(whole), /^This browser cannot verify receipts\n/)
  })

  test('cannot send anything, even with injected code', async (t) => {
    let connections = 0
    const server = createServer((_, response) => void response.end())
    server.on('connection', () => connections++)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    await page.context().setOffline(false)
    await page.reload()
    const title = await page.evaluate(async (url) => {
      await fetch(url, { mode: 'no-cors' }).catch(() => null)
      await new Promise((resolve) => {
        const image = new Image()
        image.onload = image.onerror = resolve
        image.src = url
      })
      const script = document.createElement('script')
      try {
        script.textContent = 'document.title = "changed"'
        document.body.append(script)
      } catch {
        // Trusted Types reject a text as a script.
      }
      return document.title
    }, `http://127.0.0.1:${address.port}/`)
    assert.equal(title, 'Verify a receipt – Lethe')
    assert.equal(connections, 0)
  })

  test('verifies a receipt where the service serves it, under the policy of its header', async () => {
    const shop = await startShop({ after }, { scopes: ['analytics:view'] })
    const served = await openPage({ offline: false }, `${shop.url}/verify`)
    assert.match(await served.verify(whole), /^Verified\n/)
    assert.deepEqual(served.requested, [`${shop.url}/verify`])
    assert.deepEqual(served.complaints, [])
  })

  test('says that it needs JavaScript if there is none', async () => {
    const { page } = await openPage({ javaScriptEnabled: false })
    assert.ok(await page.locator('noscript p').isVisible())
  })
})

/** Fills in and submits the form. Runs in the page. */
function fillIn(texts: string[]): void {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')
  for (const [i, field] of fields.entries()) {
    field.value = texts[i] ?? ''
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
  document.querySelector('form')?.requestSubmit()
}
