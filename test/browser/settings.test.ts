import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setPlan } from '../../src/operations/organisation.ts'
import { dataOf, objectIn, textIn } from '../support/answers.ts'
import { eraseWithRequest, note, openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

const dayMs = 86_400_000

describe('the settings in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_RETENTION_DAYS: 'free=100,starter=10,pro=200' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  await shop.ingest([...visit('anna', { startedAt: Date.now() - 50 * dayMs, events: 2 }), ...visit('bert')])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)

  test('show what a shorter plan would hide, on request', async () => {
    await page.goto('/console/settings')
    await settled(page)
    await page.getByText('keeps visitor data for 100 days').waitFor()
    await keyboard.press('Preview the effect of starter')
    await page.getByText('1 data subject, at most 1 session and 2 events').waitFor()
    assert.equal(await page.getByText('hides no data').count(), 2)
  })

  test('offer to remove the rule against passwords if single sign-on is no longer set up', async () => {
    const { signInRules } = shop.services
    const changed = note(shop, shop.organisationId, 'sign-in-rules.changed')
    await signInRules.change(shop.organisationId, { passwordAllowed: false }, changed)
    await page.goto('/console/settings')
    await settled(page)
    await page.getByText('has no effect without single sign-on').waitFor()
    await keyboard.press('Accept passwords again')
    await page.getByText('Passwords are accepted again').waitFor()
    assert.equal((await signInRules.find(shop.organisationId)).passwordAllowed, true)
    await page.getByRole('button', { name: 'Accept passwords again' }).waitFor({ state: 'detached' })
    await page.goto('/console/settings')
    await settled(page)
  })

  test('hide data with a shorter plan, which a request still erases and certifies', async () => {
    await setPlan(shop.services, shop.organisationId, 'starter')
    const subjects = [{ trackerId: 'shop', subjectId: 'anna' }]
    for (const [kind, words] of [
      ['access', 'Hidden by your plan: it is not part of the copy.'],
      ['erasure', 'Hidden by your plan: it is erased, too, and not part of the copy.'],
    ] as const) {
      const body = { kind, person: { identifiers: [], subjects } }
      const created = dataOf(await client.ask('/requests', { method: 'POST', body }))
      await page.goto(`/console/requests/${textIn(objectIn(created, 'request'), 'requestId')}`)
      await page.getByText(words, { exact: true }).waitFor()
    }
    const requestId = await eraseWithRequest(shop, client, { subjects })
    await page.goto(`/console/erasures/certificates/${requestId}`)
    await page.getByText('Everything we held in one record was erased.').waitFor()
    await page.getByRole('cell', { name: 'no visible data' }).waitFor()
    await page.goto('/console/settings')
    await settled(page)
  })

  test('rename the organisation everywhere', async () => {
    await keyboard.press('Rename')
    await keyboard.type('Name', 'Acme & Sons')
    await page.keyboard.press('Enter')
    await page.getByRole('banner').getByText('Acme & Sons', { exact: true }).waitFor()
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, 'nothing is wider than a phone')
    assert.deepEqual(complaints, [])
  })
})
