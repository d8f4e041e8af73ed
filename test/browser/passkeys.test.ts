import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { recentSignInMs } from '../../src/domain/sign-in.ts'
import { totpCode, totpStep } from '../../src/factors/totp-codes.ts'
import { addMember, openConsole, password, signInAgain } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, noBrowser, openBrowser, openPage, settled, signInAs } from './browser.ts'

after(scryptOnce(16))

interface StoredCredential {
  credentialId: string
  isResidentCredential: boolean
  rpId?: string
  privateKey: string
  userHandle?: string
  signCount: number
}

/** A virtual authenticator of a page, with a present and verified user. */
async function addAuthenticator(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  return {
    async credentials(): Promise<StoredCredential[]> {
      return (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
    },
    async put(credential: StoredCredential): Promise<void> {
      await cdp.send('WebAuthn.clearCredentials', { authenticatorId })
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
    async verifyUser(isUserVerified: boolean): Promise<void> {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
  }
}

describe('second factors in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const service = await startTestService({ after })
  // Passkeys need a host name.
  const at = { ...service, url: service.url.replace('127.0.0.1', 'localhost') }
  const organisationId = await service.createOrganisation('acme')
  const client = await openConsole(service, organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, at, client)
  const authenticator = await addAuthenticator(page)

  async function signOut(): Promise<void> {
    await page.context().clearCookies()
    await page.goto('/console/sign-in')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  async function typePassword(): Promise<void> {
    await page.getByLabel('E-mail address').fill('ada@acme.example')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  const isIn = () => page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()

  test('a passkey is added with a name, and comes with recovery codes', async () => {
    await page.goto('/console/account')
    await settled(page)
    await assertAccessible(page, 'the account')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name').fill('Laptop')
    await page.getByRole('button', { name: 'Continue' }).click()
    const codes = await page.getByRole('textbox', { name: 'Recovery codes' }).inputValue()
    assert.equal(codes.split('\n').length, 10)
    await assertAccessible(page, 'the recovery codes')
    await page.getByRole('button', { name: 'I have stored the codes' }).click()
    await page.getByText('10 unused recovery codes').waitFor()
    await page.getByText('Laptop', { exact: true }).waitFor()
    assert.equal((await authenticator.credentials()).length, 1)
  })

  test('the same device cannot add a second one', async () => {
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name').fill('Again')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This device already has a passkey for your account.').waitFor()
    await page.keyboard.press('Escape')
  })

  test('a passkey signs in alone', async () => {
    await signOut()
    await assertAccessible(page, 'the sign-in page')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn()
  })

  test('a passkey, or a recovery code instead, is requested after the password', async () => {
    await signOut()
    await typePassword()
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await assertAccessible(page, 'the second step')
    await page.getByRole('button', { name: 'Use a recovery code instead' }).click()
    await page.getByLabel('Recovery code').fill('wrong')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This was not accepted').waitFor()
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.getByRole('button', { name: 'Use a passkey', exact: true }).click()
    await isIn()
  })

  test('a user who is not verified by the device is not signed in', async () => {
    await signOut()
    await authenticator.verifyUser(false)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('No passkey was used').waitFor()
    await authenticator.verifyUser(true)
  })

  test('a copied passkey with a lower counter is refused and recorded in the activity', async () => {
    const [credential] = await authenticator.credentials()
    assert.ok(credential)
    await authenticator.put({ ...credential, signCount: 0 })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('This passkey was not accepted').waitFor()
    await authenticator.put(credential)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await isIn()
    await goTo(page, '/activity')
    await page
      .getByRole('row', { name: /Copied passkey refused/ })
      .first()
      .waitFor()
  })

  test('another host of the service has no passkeys', async () => {
    const elsewhere = await openPage(browser, service)
    const [credential] = await authenticator.credentials()
    assert.ok(credential)
    await elsewhere.page.goto('/console/sign-in')
    await elsewhere.page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await elsewhere.page.getByText('Passkeys need a host name').waitFor()
    await signInAs(elsewhere.page, client, service.url)
    await elsewhere.page.goto('/console/account')
    await elsewhere.page.getByRole('link', { name: `${at.url}/console/account` }).waitFor()
    assert.equal(await elsewhere.page.getByRole('button', { name: 'Add a passkey' }).count(), 0)
  })

  test('an action after ten minutes asks for the passkey, and is then carried out', async () => {
    service.passTime(recentSignInMs + 1_000)
    await goTo(page, '/members')
    await page.getByRole('button', { name: 'Invite a member' }).click()
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ben@acme.example')
    await page.getByRole('button', { name: 'Create the link' }).click()
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await assertAccessible(page, 'the question who it is')
    await page.getByRole('button', { name: 'Use a passkey', exact: true }).click()
    await page.getByRole('heading', { name: 'Link for ben@acme.example' }).waitFor()
    await page.getByRole('button', { name: 'I have copied the link' }).click()
  })

  test('an authenticator app is set up with its QR code, and requested instead of the passkey', async () => {
    await goTo(page, '/account')
    await page.getByRole('button', { name: 'Set up an app' }).click()
    const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue()
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await assertAccessible(page, 'the code of an app')
    const code = () => totpCode(secret, totpStep(service.services.clock()))
    await page.getByLabel('Code', { exact: true }).fill(code())
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('button', { name: 'Set up another app' }).waitFor()
    service.passTime(30_000)
    await signOut()
    await typePassword()
    await page.getByRole('button', { name: 'Use a code from your app instead' }).click()
    await page.getByLabel('Code', { exact: true }).fill(code())
    await page.keyboard.press('Enter')
    await isIn()
  })

  test('removed factors are no longer requested', async () => {
    await goTo(page, '/account')
    await page.getByRole('button', { name: 'Actions for the passkey Laptop' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove the passkey' }).click()
    await page.getByText('Laptop', { exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove the app' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the app' }).click()
    await page.getByRole('button', { name: 'Set up an app' }).waitFor()
    await signOut()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('This passkey was not accepted').waitFor()
    await typePassword()
    await isIn()
  })

  test('the password can be changed, and a member of a stricter organisation must add a second factor', async () => {
    await goTo(page, '/account')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByLabel('Current password').fill(password)
    await page.getByLabel('New password').fill('qwertyqwerty')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password must be harder to guess').waitFor()
    await page.getByLabel('New password').fill('entirely different words')
    await dialog.getByRole('button', { name: 'Change password' }).click()
    await dialog.waitFor({ state: 'detached' })

    const ben = await addMember(service, organisationId, 'carl@acme.example')
    const rules = { id: 'rules', organisationId, at: 0, actor: { kind: 'command-line' } } as const
    const note = { ...rules, kind: 'sign-in-rules.changed', target: null, requestId: null } as const
    await service.services.signInRules.change(organisationId, { secondFactor: 'required' }, note)
    const carl = { ...client, member: ben }
    await signInAgain(service, carl)
    await signInAs(page, carl, at.url)
    await page.goto('/console/keys')
    await page.getByRole('heading', { name: 'Add a second factor' }).waitFor()
    await assertAccessible(page, 'the missing factor')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name').fill('Phone')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'I have stored the codes' }).click()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await until(async () => complaints.length === 0)
    assert.deepEqual(complaints, [])
  })
})
