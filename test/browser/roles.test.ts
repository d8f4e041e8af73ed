import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { allows, type Role, roles } from '../../src/domain/member.ts'
import { dataOf, objectIn, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('the console in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const identifiers = { email: 'anna@example.com' }
  await shop.ingest(visit('anna', { identifiers }))
  const admin = await openConsole(shop, shop.organisationId)
  const person = { identifiers: [{ name: 'email', value: identifiers.email }], subjects: [] }
  const created = await admin.ask('/requests', { method: 'POST', body: { kind: 'erasure', person } })
  const requestId = textIn(objectIn(dataOf(created), 'request'), 'requestId')
  const browser = await openBrowser({ after })
  /** What each role is offered there, in words that a lower role must not find. */
  const offers: readonly [path: string, least: Role, offer: string][] = [
    ['/requests', 'desk', 'New request'],
    [`/requests/${requestId}`, 'desk', 'Erase everything found'],
    [`/requests/${requestId}`, 'desk', 'Add note'],
    [`/requests/${requestId}`, 'desk', 'Exclude anna on shop'],
    ['/trackers', 'admin', 'Create a tracker'],
    ['/trackers', 'admin', 'Actions for shop'],
    ['/trackers/shop/variables', 'admin', 'Create a token'],
    ['/trackers/shop/variables', 'admin', 'Start empty'],
    ['/trackers/shop/subjects/anna', 'desk', 'Erase data'],
    ['/keys', 'admin', 'Actions for key-2'],
    ['/activity', 'desk', 'CSV'],
    ['/members', 'admin', 'Invite a member'],
    ['/requests/report', 'desk', 'Download CSV'],
    ['/settings', 'admin', 'Rename'],
    ['/settings/replies', 'admin', 'Save text'],
  ]

  for (const role of roles) {
    test(`offers exactly what the role ${role} allows`, async (t) => {
      const client = await openConsole(shop, shop.organisationId, `${role}@acme.example`, role)
      const { page } = await openPage(browser, shop, client)
      t.after(() => page.close())
      for (const [path, least, offer] of offers) {
        await page.goto(`/console${path}`)
        await settled(page)
        const offered = page
          .getByRole('button', { name: offer, exact: true })
          .or(page.getByRole('link', { name: offer, exact: true }))
        if (allows(role, least)) await offered.first().waitFor()
        else assert.equal(await offered.count(), 0, `${path} offers “${offer}”`)
      }
    })
  }
})
