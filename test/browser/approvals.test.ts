import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, objectIn, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser, openPage, settled, signInAs } from './browser.ts'

describe('approval by a second member in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const join = (email: string, role: 'admin' | 'desk' | 'viewer') =>
    openConsole(shop, shop.organisationId, email, role)
  const admin = await join('admin@acme.example', 'admin')
  const [asker, other, viewer] = [
    await join('asker@acme.example', 'desk'),
    await join('other@acme.example', 'desk'),
    await join('viewer@acme.example', 'viewer'),
  ]
  dataOf(await admin.ask('/organisation/approval', { method: 'POST', body: { above: 1 } }))
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop)

  async function addRequest(subjectId: string): Promise<string> {
    await shop.ingest(visit(subjectId))
    const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId }] }
    const created = await asker.ask('/requests', { method: 'POST', body: { kind: 'erasure', person } })
    return textIn(objectIn(dataOf(created), 'request'), 'requestId')
  }

  async function openRequest(client: typeof asker, id: string): Promise<void> {
    await page.context().clearCookies()
    await signInAs(page, client, shop.url)
    await page.goto(`/console/requests/${id}`)
    await settled(page)
  }

  const card = page.getByRole('region', { name: 'Approval' })
  const nobody = 'Another desk member or admin can approve or decline it.'
  const withdraw = card.getByRole('button', { name: 'Withdraw the erasure' })
  const stateOf = async (id: string) =>
    textIn(objectIn(dataOf(await admin.ask(`/requests/${id}`)), 'request'), 'state')

  test('an erasure above the rule waits for another member, who declines and then approves it', async () => {
    const allowed = await addRequest('allowed')
    dataOf(await asker.ask(`/requests/${allowed}/erase`, { method: 'POST', body: { subjects: 1 } }))
    const id = await addRequest('anna')
    const ask = async () => {
      await openRequest(asker, id)
      await page.getByRole('button', { name: 'Erase everything found' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('If you erase more than 1 person within 24 hours').waitFor()
      await dialog.getByRole('textbox').fill('1')
      await dialog.getByRole('button', { name: 'Erase for good' }).click()
      await page.getByText('Waiting for another member').waitFor()
      await card.getByText('Waiting for approval by another member.').waitFor()
      await card.getByText(nobody).waitFor()
      await withdraw.waitFor()
      assert.equal(await card.getByRole('button').count(), 1, 'nobody approves their own')
    }
    await ask()
    await assertAccessible(page, 'approval')
    await withdraw.click()
    await page.getByText('The request stays open, and can be started again.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
    await card.waitFor({ state: 'detached' })
    await page.getByText('Erasure withdrawn').waitFor()
    await ask()
    await openRequest(viewer, id)
    await card.getByText(nobody).waitFor()
    assert.equal(await card.getByRole('button').count(), 0)

    await openRequest(other, id)
    await card.getByText('asker@acme.example').waitFor()
    await card.getByRole('button', { name: 'Decline' }).click()
    const declining = page.getByRole('dialog', { name: 'Decline the erasure' })
    await declining.getByText('Nothing is erased.').waitFor()
    await declining.getByRole('button', { name: 'Decline' }).click()
    await card.waitFor({ state: 'detached' })
    assert.equal(await stateOf(id), 'open')

    await ask()
    await openRequest(other, id)
    await card.getByRole('button', { name: 'Approve the erasure' }).click()
    const approving = page.getByRole('dialog', { name: 'Approve the erasure' })
    await approving.getByText('one person (at present 1 record with 1 session and 1 event)').waitFor()
    await approving.getByText('This cannot be undone.').waitFor()
    await assertAccessible(page, 'approval')
    await approving.getByRole('button', { name: 'Approve and erase' }).click()
    await card.waitFor({ state: 'detached' })
    await page
      .getByRole('link', { name: /certificate/i })
      .first()
      .waitFor()
    assert.equal(await stateOf(id), 'done')
    assert.deepEqual(complaints, [])
  })

  test('a group is approved only as it was shown, and a refusal is visible', async () => {
    const startList = async (...names: string[]) => {
      for (const name of names) await shop.ingest(visit(name))
      const list = { text: names.join('\n'), subjects: names.length, format: 'lines', by: 'subjectId' }
      const body = { ...list, trackerIds: [], reference: 'Closed accounts' }
      return dataOf(await asker.ask('/erasure-lists', { method: 'POST', body }))
    }
    await page.context().clearCookies()
    await signInAs(page, asker, shop.url)
    for (const subjectId of ['cara', 'dora']) await shop.ingest(visit(subjectId))
    await page.goto('/console/requests/erase-list')
    await page.getByLabel('List').fill('cara\ndora')
    await page.getByLabel('Reference').fill('Closed accounts')
    await page.getByRole('button', { name: 'Preview matches' }).click()
    await page.getByRole('button', { name: 'Erase 2 data subjects…' }).click()
    await page.getByText('If you erase more than 1 person within 24 hours').waitFor()
    await page.getByRole('dialog').getByRole('textbox').fill('2')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByRole('button', { name: 'Withdraw 2 erasures' }).click()
    await page.getByText('The requests stay open, and can be started again.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('button', { name: 'Start 2 erasures' }).click()
    await page.getByText('If you erase more than 1 person within 24 hours').waitFor()
    await page.getByRole('dialog').getByRole('textbox').fill('2')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByText('2 erasures waiting for another member').waitFor()
    await page.context().clearCookies()
    await signInAs(page, other, shop.url)
    await page.goto('/console/requests/group?reference=Closed+accounts')
    await page.getByRole('button', { name: 'Approve 2 erasures' }).click()
    const dialog = page.getByRole('dialog')
    await startList('cara', 'dora', 'emma')
    for (let clicks = 0; clicks < 2; clicks++) {
      await dialog.getByRole('button', { name: 'Approve and erase' }).click()
      await dialog.getByText('The number of waiting requests is 3 now, not 2; nothing was changed.').waitFor()
      // The page behind the dialog has been refreshed.
      await page.getByText('3 erasures waiting for approval by another member.').waitFor()
    }
    await assertAccessible(page, 'a refused approval')
    assert.equal(await dialog.getByRole('heading').innerText(), 'Approve 2 erasures')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Approve 3 erasures' }).click()
    await dialog.getByRole('button', { name: 'Approve and erase' }).click()
    await page.getByRole('heading', { name: '3 of 3 requests closed' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('the rule accepts only digits, and is disabled only by an empty field', async () => {
    const rule = async () => dataOf(await admin.ask('/organisation/approval')).above
    await page.context().clearCookies()
    await signInAs(page, admin, shop.url)
    await page.goto('/console/settings')
    await settled(page)
    const field = page.getByLabel('People without approval')
    const save = page.getByRole('button', { name: 'Save rule' })
    for (const typed of ['1,000', '1.000', '1e3', 'none', '-1']) {
      await field.fill(typed)
      await save.click()
      await page.getByText('Enter a whole number, using only digits.').waitFor()
      assert.equal(await rule(), 1, typed)
      await field.fill('')
    }
    await field.fill(' 1000 ')
    await save.click()
    await page.getByText('more than 1,000 people within 24 hours').waitFor()
    assert.equal(await rule(), 1000)
    await field.fill('')
    await save.click()
    await page.getByText('any number of people').waitFor()
    assert.equal(await rule(), null)
    assert.deepEqual(complaints, [])
  })
})
