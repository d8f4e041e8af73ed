import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole, password } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startTestService } from '../support/service.ts'
import { answered, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

after(scryptOnce(16))

describe('members in a browser, by keyboard alone', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const service = await startTestService({ after })
  const organisationId = await service.createOrganisation('acme')
  const client = await openConsole(service, organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, service, client)
  const keyboard = new Keyboard(page)
  const other = await openPage(browser, service)
  const otherHands = new Keyboard(other.page)

  test('the last admin cannot be removed or demoted', async () => {
    await page.goto('/console/members')
    await settled(page)
    await keyboard.choose('Actions for ada@acme.example', 'Remove')
    await keyboard.press('Remove the member')
    await page.getByText('The last admin who can sign in').waitFor()
    await page.keyboard.press('Escape')
    await keyboard.choose('Actions for ada@acme.example', 'Change role')
    await page.getByRole('radio', { name: /^Viewer/ }).check()
    await keyboard.press('Change the role')
    await page.getByText('The last admin who can sign in').waitFor()
    await page.keyboard.press('Escape')
  })

  test('a member is invited, joins with the link even after a reload, and is signed out immediately when removed', async () => {
    await keyboard.press('Invite a member')
    await keyboard.type('E-mail address', 'nobody')
    await page.keyboard.press('Enter')
    await page.getByText('Email must be an e-mail address').waitFor()
    await keyboard.type('E-mail address', 'ben@acme.example')
    await page.keyboard.press('Enter')
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    await keyboard.press('I have copied the link')
    await page
      .getByRole('row', { name: /ben@acme/ })
      .getByText('invited')
      .waitFor()

    await other.page.goto(link)
    await other.page.getByText('ben@acme.example').waitFor()
    await other.page.reload()
    await other.page.getByRole('heading', { name: 'Open the link again' }).waitFor()
    await other.page.goto(link)
    await other.page.getByText('ben@acme.example').waitFor()
    await otherHands.type('Password', password)
    await other.page.keyboard.press('Enter')
    await other.page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()

    await page.reload()
    await page
      .getByRole('row', { name: /ben@acme/ })
      .getByText('joined')
      .waitFor()
    await page.getByRole('row', { name: /ben@acme.*Viewer/ }).waitFor()
    await otherHands.press('API keys')
    await other.page.getByText('An admin can create one.').waitFor()
    await keyboard.choose('Actions for ben@acme.example', 'Change role')
    await page.getByRole('radio', { name: /^Admin/ }).check()
    await keyboard.press('Change the role')
    await page.getByRole('row', { name: /ben@acme.*Admin/ }).waitFor()
    await other.page.reload()
    await other.page.getByRole('button', { name: 'Create a key' }).first().waitFor()
    // A later request would notice the end of the session before the keyboard does.
    await answered(other.page)
    await keyboard.choose('Actions for ben@acme.example', 'Reset password')
    await page.getByText('The old password works until then').waitFor()
    await keyboard.press('Create a link')
    await page.getByLabel('Link', { exact: true }).waitFor()
    await keyboard.press('I have copied the link')
    await keyboard.choose('Actions for ben@acme.example', 'Remove')
    await page.getByText('They will be signed out immediately').waitFor()
    await keyboard.press('Remove the member')
    await page.getByRole('row', { name: /ben@acme/ }).waitFor({ state: 'detached' })
    await otherHands.press('Settings')
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('a used link says so', async () => {
    await other.page.goto('/console/join#used')
    await other.page.getByText('This link has expired or was already used').waitFor()
    await otherHands.press('Sign in instead')
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})
