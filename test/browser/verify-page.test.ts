import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { digestEntries } from '../../client/src/digest-entries.ts'
import { verifyPage } from '../../scripts/verify-page/verify-page.ts'
import { dataOf, listIn, textIn } from '../support/answers.ts'
import {
  checkpointOf,
  inclusionProof,
  makeReceipt,
  noteSigner,
  nothingHeldRecord,
  receiptText,
  recordOf,
  rootOf,
} from '../support/make-receipt.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, overflowOf } from './browser.ts'

const file = new URL('../../docs/verify.html', import.meta.url)
const origin = 'lethe.local/acme'
const signer = noteSigner(origin, seed('acme'))
const erasures = ['anna', 'ben', '<b>carla</b>'].map((subjectId) => {
  return { trackerId: 'shop <1>', subjectId, nonce: seed(subjectId) }
})
const signed = { origin, signers: [signer] }
const receipt = makeReceipt(2, erasures, signed)

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
    async function verify(
      fields: Partial<Record<'receipt' | 'key' | 'tracker' | 'subject' | 'email', string>>,
    ) {
      const { receipt: pasted = receipt, key = signer.vkey, tracker = '', subject = '', email = '' } = fields
      const values = { receipt: pasted, keys: key, tracker, subject, 'identifier-value': email }
      await page.evaluate(fillIn, values)
      await page.locator('#result h2').waitFor()
      return (await page.locator('#result').innerText()).replace(/\n+/g, '\n')
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

  test('shows and explains each hash on the path from the entry to the root', async () => {
    await verify({ receipt: makeReceipt(0, erasures, signed), tracker: 'shop <1>', subject: 'anna' })
    const titles = await page.locator('.steps h4').allInnerTexts()
    assert.deepEqual(titles, [
      'The entry Passed',
      'Level 1 Passed',
      'Level 2 Passed',
      'The root Passed',
      'The signature Passed',
      'The person Passed',
    ])
    const leaves = erasures.map((each) => Buffer.from(recordOf(each)))
    const hashes = await page.locator('.steps .hash').allInnerTexts()
    const [leaf] = hashes
    const proof = inclusionProof(0, leaves).map((hash) => hash.toString('base64'))
    const root = rootOf(leaves).toString('base64')
    const [one] = [rootOf(leaves.slice(0, 2)).toString('base64')]
    assert.deepEqual(hashes, [leaf, leaf, proof[0], one, one, proof[1], root, root])
    assert.equal(leaf, rootOf(leaves.slice(0, 1)).toString('base64'))
    assert.match(await page.locator('.steps pre').first().innerText(), /^\{"alreadyErased":false,/)
  })

  test('says so if the receipt does not show whose data was erased', async () => {
    assert.match(await verify({}), /^Verified\n.*It is not proven whose data it was/s)
  })

  test('says what is missing without a key, and shows the rest', async () => {
    const told = await verify({ key: '' })
    assert.match(told, /^The signature is not checked\n.*anyone could have made it/s)
    assert.match(told, /The root Passed.*The signature Not checked/s)
    assert.ok(told.includes(`${origin} (key ID ${signer.keyId.toString('hex')})`))
  })

  test('accepts a receipt with missing or extra white space at its ends, and several keys', async () => {
    const other = noteSigner(origin, seed('another'))
    const key = `${other.vkey}\n  ${signer.vkey}\n`
    assert.match(await verify({ ...whole, receipt: `\n ${receipt.trimEnd()}`, key }), /^Verified\n/)
  })

  test('shows the keys beside the signed checkpoint, with the one that signed it', async () => {
    const other = noteSigner(origin, seed('another'))
    await verify({ ...whole, key: `${other.vkey}\n${signer.vkey}` })
    const keys = () => page.locator('.signed .keys li').allInnerTexts()
    assert.deepEqual(await keys(), [
      `Not signed with this key\n${other.vkey}`,
      `Signed with this key\n${signer.vkey}`,
    ])
    const [text, list] = await Promise.all(
      ['pre', '.keys'].map((part) => page.locator(`.signed ${part}`).boundingBox()),
    )
    assert.ok(text && list && list.x >= text.x + text.width, 'beside each other')
    assert.match(await verify({ ...whole, key: other.vkey }), /^Not verified\n/)
    assert.deepEqual(await keys(), [`Not signed with this key\n${other.vkey}`])
  })

  test('verifies a no-data receipt for its identifier only', async () => {
    const ada = { name: 'email', value: 'ada@example.com' }
    const nonce = seed('nothing held')
    const record = nothingHeldRecord(nonce, ada)
    const checkpoint = checkpointOf(origin, [Buffer.from(record)], [signer])
    const nothing = receiptText({ nonce, record, index: 0, proof: [], checkpoint })
    const told = await verify({ receipt: nothing, email: 'Ada@example.com' })
    assert.match(
      told,
      /^Verified\n.*nothing was held about a person in any tracker\. The identifier matches\./s,
    )
    assert.match(await verify({ receipt: nothing }), /not proven who the person is/)
    assert.match(
      await verify({ receipt: nothing, email: 'eva@example.com' }),
      /^Not verified\n.*another identifier/s,
    )
  })

  test('verifies all receipts of a certificate in JSON, and highlights an invalid one', async () => {
    const all = erasures.map((_, index) => ({ receipt: makeReceipt(index, erasures, signed), index }))
    const certificate = JSON.stringify({ data: { complete: true, entries: all, nothingHeld: [] } })
    const told = await verify({ receipt: certificate, subject: 'ben' })
    assert.match(told, /^Verified\nAll 3 receipts are valid\. What you entered matches 1 of them\./)
    assert.match(
      await verify({ receipt: certificate, subject: 'nobody' }),
      /^Not verified\nNone of the receipts/,
    )
    const lines = all.map((each) => JSON.stringify(each)).join('\n')
    assert.match(await verify({ receipt: lines }), /^Verified\nAll 3/)
    const texts = all.map((each) => each.receipt).join('\n')
    assert.match(await verify({ receipt: texts }), /^Verified\nAll 3/)
    const bad = certificate.replace('index 1', 'index 0')
    assert.match(await verify({ receipt: bad }), /^Not verified\n1 of 3 receipts cannot be verified\./)
    const open = page.locator('details[open] summary')
    assert.deepEqual(await open.allInnerTexts(), ['Receipt 1 of 3 Verified', 'Receipt 2 of 3 Not verified'])
  })

  test('prints every step of every receipt', async () => {
    const texts = erasures.map((_, index) => makeReceipt(index, erasures, signed)).join('')
    await verify({ receipt: texts })
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
    assert.equal(await page.locator('details:not([open])').count(), 0)
    assert.equal(await page.locator('details .steps').count(), 3)
  })

  test('rejects an invalid receipt with the reason', async () => {
    const stranger = noteSigner(origin, seed('a forger'))
    const cases = [
      [{ ...whole, subject: 'anna' }, 'The receipt is of another data subject.'],
      [{ ...whole, tracker: 'blog' }, 'The receipt is of another tracker.'],
      [{ key: stranger.vkey }, `None of the keys that you entered signed the checkpoint of ${origin}.`],
      [{ key: 'lethe.local/acme' }, 'it is not of the form name+id+base64'],
      [{ receipt: receipt.replace('index 2', 'index 1') }, 'does not have the number of hashes'],
      [{ receipt: 'Hello' }, 'its first line is not c2sp.org/tlog-proof@v1'],
      [{ receipt: '{"data":{}}' }, 'its first line is not c2sp.org/tlog-proof@v1'],
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
    assert.equal(await page.getByRole('status').textContent(), 'Verified')
  })

  test('verifies a chosen and a dropped file immediately, and a pasted text', async () => {
    await page.reload()
    await page.getByLabel('Verifier key').fill(signer.vkey)
    const verified = page.getByRole('heading', { name: 'Verified', exact: true })
    const choose = { name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from(receipt) }
    await page.getByLabel('Or choose files').setInputFiles(choose)
    await verified.waitFor()
    await page.getByLabel('Tracker ID').fill('blog')
    await verified.waitFor({ state: 'detached' })
    await page.getByLabel('Tracker ID').fill('')
    await page.evaluate(drop, receipt)
    await verified.waitFor()
    const field = page.getByLabel('Receipt', { exact: true })
    await field.fill('')
    await verified.waitFor({ state: 'detached' })
    await field.fill(receipt)
    await field.dispatchEvent('paste')
    await verified.waitFor()
  })

  test('verifies a chosen file even if the key is entered while it is read', async () => {
    await page.reload()
    await page.evaluate(holdFiles)
    const choose = { name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from(receipt) }
    await page.getByLabel('Or choose files').setInputFiles(choose)
    await page.getByLabel('Verifier key').fill(signer.vkey)
    await page.evaluate(() => dispatchEvent(new Event('files-read')))
    await page.getByRole('heading', { name: 'Verified', exact: true }).waitFor()
  })

  test('checks that the receipts match the certificate of a link', async () => {
    const parts = [0, 1].map((index) => makeReceipt(index, erasures, signed))
    const records = erasures.map((each, index) => ({ index, record: recordOf(each) }))
    const digest = await digestEntries(records.slice(0, 2).reverse())
    const leaves = records
      .slice(0, 2)
      .map(({ record }) => createHash('sha256').update(`\0${record}`).digest())
    assert.equal(digest, createHash('sha256').update(Buffer.concat(leaves)).digest('base64url'))
    const link = await openPage({}, `${file.href}#sha256=${digest}&key=${signer.vkey}`)
    assert.equal(await link.page.getByLabel('Verifier key').inputValue(), signer.vkey)
    assert.match(
      await link.page.locator('#link-note').innerText(),
      /from a certificate.*Compare it with the key/,
    )
    assert.match(await link.verify({ receipt: parts.join('') }), /^Verified\n.*certificate in the link\./s)
    // On paper, the digest can be compared by eye.
    const told = await verify({ receipt: parts.join('') })
    assert.ok(told.includes(`Digest of the certificate\n${digest}\n`), told)
    for (const text of [parts[0] ?? '', receipt, [...parts, receipt].join('')]) {
      assert.match(await link.verify({ receipt: text }), /^Not verified\nThese are not the receipts/)
    }
    await assertAccessible(link.page, 'linked')
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

  test('is animated only if the visitor does not prefer reduced motion', async () => {
    await verify(whole)
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0)
    const moving = await openPage({ reducedMotion: 'no-preference' })
    await moving.verify(whole)
    const step = moving.page.locator('.steps li').last()
    // The animation may already be over.
    assert.equal(await step.evaluate((li) => getComputedStyle(li).animationName), 'appear')
    await moving.page.emulateMedia({ media: 'print', reducedMotion: 'no-preference' })
    assert.equal(await step.evaluate((li) => getComputedStyle(li).opacity), '1')
  })

  test('does not reject a receipt if the browser cannot verify it', async () => {
    await page.evaluate(() => {
      const old = new DOMException('Unrecognized name.', 'NotSupportedError')
      crypto.subtle.verify = () => Promise.reject(old)
    })
    assert.match(
      await verify(whole),
      /^This page cannot verify the receipt\nThis runtime does not support Ed25519/,
    )
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
        // Trusted Types reject a string as a script.
      }
      return document.title
    }, `http://127.0.0.1:${address.port}/`)
    assert.equal(title, 'Verify a receipt – Lethe')
    assert.equal(connections, 0)
  })

  describe('served by the service, without an account', async () => {
    const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
    await shop.ingest(['anna', 'ben', 'carla'].flatMap((subjectId) => visit(subjectId, { events: 2 })))
    const ask = async (path: string, method = 'GET') =>
      dataOf(await shop.ask(path, { key: shop.key, method }))
    for (const subjectId of ['anna', 'ben']) await ask(subjectPath(subjectId), 'DELETE')
    const real = textIn(await ask(subjectPath('carla'), 'DELETE'), 'receipt')
    const key = String(listIn(await ask('/v1/analytics/ledger'), 'verifierKeys')[0])
    const [heading = '', extraLine = '', indexLine = '', hash = '', ...rest] = real.split('\n')
    const served = await openPage({ offline: false }, `${shop.url}/verify`)
    const extra = Buffer.from(extraLine.slice('extra '.length), 'base64')

    /** The receipt with a changed byte of the extra data, which contains the entry. */
    function withExtra(change: (text: string) => string): string {
      const changed = Buffer.from(change(extra.toString('latin1')), 'latin1').toString('base64')
      assert.notEqual(changed, extra.toString('base64'))
      return [heading, `extra ${changed}`, indexLine, hash, ...rest].join('\n')
    }

    /** A text in base64 with one bit of a byte flipped. */
    function flipped(base64: string, at: number): string {
      const bytes = Buffer.from(base64, 'base64')
      bytes[at] = (bytes[at] ?? 0) ^ 1
      return bytes.toString('base64')
    }

    test('verifies a real receipt under the policy of its header, with one request for the page', async () => {
      const told = await served.verify({ receipt: real, key, tracker: 'shop', subject: 'carla' })
      assert.match(told, /^Verified\n.*sessions 1, events 2\. The data subject ID matches\./s)
      assert.match(told, /No\. 3 of 3/)
      assert.deepEqual(served.requested, [`${shop.url}/verify`])
      assert.deepEqual(served.complaints, [])
    })

    test('says which part has a flipped byte: the entry, a hash, the head or the signature', async () => {
      const tail = rest.at(-2) ?? ''
      const [, , signature = ''] = tail.split(' ')
      const damaged: [string, string, string][] = [
        [
          withExtra((text) => text.replace('erasedAt', 'erasedAu')),
          'The entry',
          'The entry in the receipt is malformed',
        ],
        [
          withExtra((text) => text.replace(String.raw`events\":2`, String.raw`events\":3`)),
          'The root',
          'the entry, its number or one of the hashes was changed',
        ],
        [
          real.replace(hash, flipped(hash, 7)),
          'The root',
          'the entry, its number or one of the hashes was changed',
        ],
        [real.replace(signature, flipped(signature, 40)), 'The signature', 'The signature by '],
        [
          real.replace(signature, flipped(signature, 0)),
          'The signature',
          'None of the keys that you entered',
        ],
        [real.replace(`\n3\n`, '\n2\n'), 'The root', 'does not have the number of hashes'],
        [withExtra((text) => text.replace('nonce', 'nonde')), 'The receipt', 'its nonce is not 32 bytes'],
        [real.replace(hash, `${hash.slice(0, -2)}!=`), 'The receipt', 'a line of its inclusion proof'],
      ]
      for (const [text, step, why] of damaged) {
        const told = await served.verify({ receipt: text, key })
        assert.match(told, /^Not verified\n/)
        assert.ok(told.split('\n')[1]?.includes(why), told)
        const first = served.page.locator('.steps .failed h4').first()
        assert.equal(await first.innerText(), `${step} Failed`)
      }
    })
  })

  test('says that it needs JavaScript if it is disabled', async () => {
    const { page } = await openPage({ javaScriptEnabled: false })
    assert.ok(await page.locator('noscript p').isVisible())
  })
})

/** Fills in and submits the form. Runs in the page. */
function fillIn(values: Record<string, string>): void {
  for (const [id, value] of Object.entries(values)) {
    const field = document.getElementById(id)
    if (!(field instanceof HTMLInputElement) && !(field instanceof HTMLTextAreaElement)) throw new Error(id)
    field.value = value
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
  document.querySelector('form')?.requestSubmit()
}

/** Drops a file anywhere on the page. Runs in the page. */
function drop(text: string): void {
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([text], 'receipt.txt'))
  document.querySelector('h1')?.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer }))
}

/** Delays the reading of files until the event `files-read`. Runs in the page. */
function holdFiles(): void {
  const { promise, resolve } = Promise.withResolvers<Event>()
  addEventListener('files-read', resolve)
  const { text } = File.prototype
  File.prototype.text = async function () {
    await promise
    return text.call(this)
  }
}
