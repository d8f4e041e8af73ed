import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { ofEmail, requestDesk } from '../support/console-requests.ts'
import { startShop, visit } from '../support/shop.ts'
import { noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('a running erasure in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { env: { LETHE_BATCH_PACE: '1/day' }, scopes: ['analytics:view'] })
  const identifiers = { email: 'ada@example.com' }
  await shop.ingest(['laptop', 'phone'].flatMap((id) => visit(id, { identifiers })))
  const client = await openConsole(shop, shop.organisationId)
  const desk = requestDesk(client)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)

  test('offers no export, which would lack erased data', async () => {
    const id = await desk.open('erasure', ofEmail('ada@example.com'))
    const links = page.getByRole('link', { name: 'Export copy (ZIP)' })
    const reply = page.getByRole('button', { name: 'Copy reply' })
    await page.goto(`/console/requests/${id}`)
    await reply.waitFor()
    assert.equal(await links.count(), 2, 'above the story, and with the reply')
    dataOf(await desk.change(id, 'erase', { subjects: 2 }))
    await page.reload()
    await page.getByText(/^\d of 2 records erased$/).waitFor()
    await reply.waitFor()
    await settled(page)
    assert.equal(await links.count(), 0)
    assert.deepEqual(complaints, [])
  })

  test('has a certificate that it was cancelled, if it was', async () => {
    await page.getByText('1 of 2 records erased').waitFor()
    const [id = ''] = await desk.list('?state=running')
    dataOf(await desk.change(id, 'cancel'))
    await page.goto(`/console/erasures/certificates/${id}`)
    const sheet = page.getByRole('article')
    await sheet.getByText('Part of what we held about one person was erased.').waitFor()
    await sheet.getByText('Cancelled on').waitFor()
    await sheet.getByText('Incomplete').waitFor()
    assert.equal(await sheet.getByText('Answered on').count(), 0)
    assert.deepEqual(complaints, [])
  })
})
