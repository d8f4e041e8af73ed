import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type ArchivedRecord, archiveOf } from '../support/person-archive.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readZip } from '../support/zip.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser, overflowOf } from './browser.ts'

const records: ArchivedRecord[] = [
  {
    ...{ trackerId: 'shop', subjectId: 'visitor-1', events: 30 },
    name: (event) => ['pageview', 'search', `an-event-with-a-long-name-${'x'.repeat(80)}`][event % 3] ?? '',
    properties: (event) => ({ url: `https://shop.example/${'products'.repeat(20)}/${event}`, price: event }),
    attributes: { country: 'DE', language: 'de-AT', campaign: 'שלום' },
    identifiers: [{ name: 'email', value: `${'ada'.repeat(60)}@example.com` }],
  },
  { trackerId: 'blog', subjectId: 'reader-1', events: 1 },
]

describe('the page of an export', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const browser = await openBrowser({ after })

  for (const language of ['en', 'de'] as const) {
    test(`is accessible offline, wide and narrow, without scripts or requests, in ${language}`, async (t) => {
      const folder = temporaryFolder(t)
      for (const { name, text } of readZip(await archiveOf(records, { language }))) {
        mkdirSync(dirname(join(folder, name)), { recursive: true })
        writeFileSync(join(folder, name), text)
      }
      const context = await browser.newContext({ offline: true })
      t.after(() => context.close())
      const requested: string[] = []
      const complaints: string[] = []
      context.on('request', (request) => requested.push(request.url()))
      const page = await context.newPage()
      page.on('console', (message) => complaints.push(message.text()))
      const address = pathToFileURL(join(folder, 'index.html')).href
      await page.goto(address)
      await assertAccessible(page, `the copy in ${language}`)
      for (const width of [1_100, 360]) {
        await page.setViewportSize({ width, height: 800 })
        assert.equal(await overflowOf(page), 0, `${width} pixels`)
      }
      assert.equal(await page.locator('script').count(), 0)
      assert.deepEqual([requested, complaints], [[address], []])
      assert.equal(await page.locator('html').getAttribute('lang'), language)
      await page.locator('a[href="records/001-shop.json"]').first().click()
      await page.waitForURL(/001-shop\.json$/)
    })
  }
})
