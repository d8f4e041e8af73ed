import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { idleTimeoutMs, recentSignInMs } from '../../src/domain/sign-in.ts'
import { inviteMember } from '../../src/operations/member.ts'
import { addMember, note, signedIn } from '../support/console.ts'
import { startOidcService } from '../support/oidc-service.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser, openPage, settled, signInAs } from './browser.ts'

describe('single sign-on with a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const { service, provider } = await startOidcService({ after })
  const organisationId = await service.createOrganisation('acme')
  const admin = await addMember(service, organisationId, 'admin@acme.example')
  await inviteMember(
    service.services,
    { organisationId, email: 'ada@acme.example', role: 'admin' },
    commandLine,
  )
  const browser = await openBrowser({ after })
  const { page, requested, complaints } = await openPage(browser, service)
  const ada = { subject: 'ada', email: 'ada@acme.example', isVerified: true }
  const signIn = page.getByRole('button', { name: 'Sign in with Acme ID' })

  test('redirects to the provider and back to the requested page, and leaves no code behind', async () => {
    provider.visitor = ada
    await page.goto('/console/members#list')
    await signIn.click()
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    assert.equal(page.url(), `${service.url}/console/members#list`)
    assert.ok(requested.some((address) => address.startsWith(provider.issuer)))
    await page.getByRole('button', { name: 'Account: ada@acme.example' }).waitFor()
    await page.goto('/console/single-sign-on')
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('continues in another tab after the session has expired, with the typed text', async () => {
    await page.goto('/console/settings')
    await settled(page)
    await page.getByRole('button', { name: 'Rename' }).click()
    const rename = page.getByRole('dialog', { name: 'Rename the organisation' })
    await rename.getByLabel('Name').fill('Acme Holding')
    service.passTime(idleTimeoutMs)
    await rename.getByRole('button', { name: 'Rename' }).click()
    const again = page.getByRole('link', { name: 'Sign in with Acme ID in another tab' })
    await again.waitFor()
    // The provider has its own clock.
    service.passTime(-idleTimeoutMs)
    await again.click()
    await page.getByText('Renamed to “Acme Holding”').waitFor()
    await rename.waitFor({ state: 'hidden' })
    assert.deepEqual(complaints, [])
  })

  test('confirms the identity in another tab, and then carries out the action', async () => {
    await page.getByLabel('Allowed domains').fill('wiki.example')
    service.passTime(recentSignInMs + 1_000)
    await page.getByRole('button', { name: 'Save allowed domains' }).click()
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    await assertAccessible(page, 'single sign-on')
    service.passTime(-recentSignInMs - 1_000)
    await page.getByRole('link', { name: 'Continue in another tab' }).click()
    await page.getByText('Allowed domains saved').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('explains why a person cannot sign in', async () => {
    await page.context().clearCookies()
    provider.visitor = { subject: 'eve', email: 'eve@evil.example', isVerified: true }
    await page.goto('/console/sign-in')
    await signIn.click()
    await page.getByText('There is no invitation for eve@evil.example.').waitFor()
    await assertAccessible(page, 'single sign-on')
    await page.getByRole('link', { name: 'Back to the sign-in page' }).click()
    await signIn.waitFor()
    await assertAccessible(page, 'single sign-on')
  })

  test('is set up by an admin, and lets people of several organisations choose one', async () => {
    await signInAs(page, await signedIn(service, admin), service.url)
    await page.goto('/console/settings')
    await settled(page)
    assert.equal(await page.getByLabel('Allowed domains').inputValue(), 'wiki.example')
    await page.getByRole('button', { name: 'Stop accepting passwords' }).click()
    await page.getByText('Sign in by single sign-on first.').waitFor()
    await assertAccessible(page, 'single sign-on')
    const other = await service.createOrganisation('other')
    await addMember(service, other)
    await inviteMember(service.services, { organisationId: other, email: ada.email }, commandLine)
    await page.context().clearCookies()
    provider.visitor = ada
    await page.goto('/console/sign-in')
    await signIn.click()
    await page.getByRole('heading', { name: 'Choose an organisation' }).waitFor()
    await assertAccessible(page, 'single sign-on')
    await page.getByRole('button', { name: 'other' }).click()
    await page.getByRole('button', { name: 'Account: ada@acme.example' }).waitFor()
  })

  test('is offered by a link if passwords are disabled, with a password as the last resort', async () => {
    await page.context().clearCookies()
    const changed = note(service, organisationId, 'sign-in-rules.changed')
    await service.services.signInRules.change(organisationId, { passwordAllowed: false }, changed)
    const bob = { subject: 'bob', email: 'bob@acme.example', isVerified: true }
    const { token } = await inviteMember(service.services, { organisationId, email: bob.email }, commandLine)
    provider.visitor = bob
    await page.goto(`/console/join#${token}`)
    await page.getByText('This organisation does not accept passwords.').waitFor()
    assert.equal(await page.getByLabel('Password').isVisible(), false)
    await page.getByText('Single sign-on does not work?').click()
    await page.getByLabel('Password').waitFor()
    await assertAccessible(page, 'single sign-on')
    await signIn.click()
    await page.getByRole('button', { name: 'Account: bob@acme.example' }).waitFor()
    assert.deepEqual(complaints, [])
  })
})
