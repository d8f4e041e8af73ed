// Takes the screenshots in docs/images/console with the sample data: light, dark and on a phone.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Tracker } from '../../src/domain/tracker.ts'
import { createSample } from '../../src/operations/sample.ts'
import { createTracker } from '../../src/operations/tracker.ts'
import { noBrowser, openBrowser, openPage, settled } from '../../test/browser/browser.ts'
import { dataOf, objectIn, textIn } from '../../test/support/answers.ts'
import { type ConsoleClient, openConsole } from '../../test/support/console.ts'
import { startTestService } from '../../test/support/service.ts'

if (noBrowser) throw new Error(noBrowser)

const folder = fileURLToPath(new URL('../../docs/images/console/', import.meta.url))
const only = process.argv[2] ?? ''
mkdirSync(folder, { recursive: true })

const ends: (() => unknown)[] = []
const lifetime = { after: (end: () => unknown) => void ends.unshift(end) }
try {
  await takePictures()
} finally {
  for (const end of ends) await end()
}

async function takePictures(): Promise<void> {
  const service = await startTestService(lifetime, { LETHE_LIMIT_ERASURE: '60/hour' })
  const { organisationId, trackerId, subjectId } = await createSample(service.services)
  const member = await openConsole(service, organisationId, 'ada@sample.example')
  const browser = await openBrowser(lifetime)
  const certificatePath = await eraseEverywhere(await newPage('light'), 'dora@example.com')
  const groupPath = await eraseList(await newPage('light'))
  const [key] = await service.services.apiKeys.list(organisationId)
  const email = 'ines@example.com'
  let empty: Tracker | undefined
  const requestId = await receiveRequests(member)
  const pages: Record<string, (page: Page) => Promise<unknown>> = {
    'sign-in': (page) =>
      page
        .context()
        .clearCookies()
        .then(() => page.goto('/console/sign-in')),
    requests: (page) => page.goto('/console'),
    request: (page) => page.goto(`/console/requests/${requestId}`),
    'new-request': async (page) => {
      await page.goto('/console')
      await settled(page)
      await page.keyboard.press('Control+k')
      await page.keyboard.type(email)
      await page.getByRole('group', { name: 'Sample shop' }).waitFor()
      await page.keyboard.press('Control+Enter')
      await page.getByRole('dialog').waitFor()
    },
    trackers: (page) => page.goto('/console/trackers'),
    tracker: (page) => page.goto(`/console/trackers/${trackerId}`),
    variables: (page) => page.goto(`/console/trackers/${trackerId}/variables`),
    subject: (page) => page.goto(`/console/trackers/${trackerId}/subjects/${subjectId}`),
    find: async (page) => {
      await page.goto('/console/trackers')
      await settled(page)
      await page.keyboard.press('Control+k')
      await page.keyboard.type(email)
      await page.getByRole('group', { name: 'Sample shop' }).waitFor()
    },
    search: async (page) => {
      await page.goto('/console/trackers')
      await look(page, email)
    },
    person: async (page) => {
      await page.goto('/console/trackers')
      await openPerson(page, email)
      await page.locator('.event-line').first().waitFor()
    },
    'erase-dialog': async (page) => {
      await page.goto('/console/trackers')
      await openPerson(page, email)
      await page.locator('.record a').first().click()
      await page.getByRole('button', { name: 'Erase data' }).click()
      await page.getByText('stay.').or(page.getByText('stays.')).waitFor()
    },
    certificate: (page) => page.goto(certificatePath),
    erasures: (page) => page.goto('/console/erasures'),
    'erase-list': (page) =>
      previewList(page, ['carlos@example.com', 'hanna@example.com', 'nobody@example.com']),
    'request-group': (page) => page.goto(groupPath),
    keys: (page) => page.goto('/console/keys'),
    key: (page) => page.goto(`/console/keys/${key?.id}`),
    activity: (page) => page.goto('/console/activity'),
    members: (page) => page.goto('/console/members'),
    account: (page) => page.goto('/console/account'),
    settings: (page) => page.goto('/console/settings'),
    // The last one, because other pages list trackers and the activity.
    'first-data': async (page) => {
      empty ??= await createTracker(service.services, {
        organisationId,
        name: 'Newsletter',
        id: 'newsletter',
      })
      await page.goto(`/console/trackers/${empty.id}`)
      await page.getByLabel('Import command', { exact: true }).scrollIntoViewIfNeeded()
    },
  }
  for (const [name, open] of Object.entries(pages)) {
    if (!name.includes(only)) continue
    for (const look of ['light', 'dark', 'phone'] as const) {
      const page = await newPage(look)
      await open(page)
      await settled(page)
      await page.screenshot({ path: `${folder}${name}-${look}.png`, animations: 'disabled' })
      await page.context().close()
    }
    console.log(name)
  }

  async function newPage(look: 'light' | 'dark' | 'phone'): Promise<Page> {
    const isPhone = look === 'phone'
    // At a host name, because passkeys need one.
    const at = { ...service, url: service.url.replace('127.0.0.1', 'localhost') }
    const { page } = await openPage(browser, at, member, {
      viewport: isPhone ? { width: 390, height: 844 } : { width: 1280, height: 860 },
      deviceScaleFactor: isPhone ? 1.5 : 1,
      hasTouch: isPhone,
      isMobile: isPhone,
      colorScheme: look === 'dark' ? 'dark' : 'light',
    })
    return page
  }
}

/** Requests of a month. Returns the ID of one with a note. */
async function receiveRequests(member: ConsoleClient): Promise<string> {
  const dayMs = 86_400_000
  const send = async (path: string, body: object) =>
    objectIn(dataOf(await member.ask(`/requests${path}`, { method: 'POST', body })), 'request')
  const ids: string[] = []
  for (const [value, kind, daysAgo] of [
    ['gustav@example.com', 'erasure', 33],
    ['carlos@example.com', 'access', 27],
    ['ines@example.com', 'erasure', 25],
    ['hanna@example.com', 'access', 16],
    ['nobody@example.com', 'erasure', 9],
    ['emil@example.com', 'erasure', 4],
    ['bela@example.com', 'access', 1],
  ] as const) {
    const receivedAt = new Date(Date.now() - daysAgo * dayMs).toISOString()
    const person = { identifiers: [{ name: 'email', value }], subjects: [] }
    const reference = `DSR-2026-${41 - daysAgo}`
    ids.push(textIn(await send('', { kind, person, reference, receivedAt }), 'requestId'))
  }
  for (const id of ids.slice(1, 4)) await send(`/${id}/assign`, { memberId: member.member.id })
  const [, , chosen = ''] = ids
  await send(`/${chosen}/notes`, { text: 'Called back. Both devices are hers.' })
  return chosen
}

async function look(page: Page, text: string): Promise<void> {
  await settled(page)
  await page.getByRole('combobox').fill(text)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: text, level: 1 }).waitFor()
  await settled(page)
}

/** Opens the page of the person whom a search finds. */
async function openPerson(page: Page, text: string): Promise<void> {
  await look(page, text)
  await page.getByRole('link', { name: 'Open this person' }).first().click()
  await page.getByRole('heading', { name: 'Records' }).waitFor()
  await settled(page)
}

/** Returns the path of the certificate. */
async function eraseEverywhere(page: Page, email: string): Promise<string> {
  await page.goto('/console/trackers')
  await openPerson(page, email)
  await page.getByRole('button', { name: 'Erase all' }).click()
  await page.getByRole('button', { name: 'Create request' }).click()
  await page.getByRole('button', { name: 'Erase everything found' }).click()
  const [, records = ''] = /Erase (\d+) record/.exec(await page.getByRole('dialog').innerText()) ?? []
  await page.getByLabel(/^Type /).fill(records)
  await page.getByRole('button', { name: 'Erase for good' }).click()
  await page.getByText('Closed in time').waitFor()
  await page.getByRole('link', { name: 'Certificate' }).first().click()
  await page.getByText('Verified').waitFor()
  return new URL(page.url()).pathname
}

async function previewList(page: Page, emails: readonly string[]): Promise<void> {
  await page.goto('/console/requests/erase-list')
  await settled(page)
  await page.getByLabel('List').fill(emails.join('\n'))
  await page.getByLabel('Reference').fill('Closed accounts')
  await page.getByRole('radio', { name: 'E-mail address' }).check({ force: true })
  await page.getByRole('button', { name: 'Preview matches' }).click()
  await page.getByText('will be erased').first().waitFor()
}

/** Returns the address of the requests. */
async function eraseList(page: Page): Promise<string> {
  await previewList(page, ['bela@example.com', 'emil@example.com'])
  await page.getByRole('button', { name: /^Erase \d+ data subjects…$/ }).click()
  const field = page.getByLabel(/^Type the number/)
  const [, count = ''] = /(\d+)/.exec(await page.getByRole('dialog').innerText()) ?? []
  await field.fill(count)
  await page.getByRole('button', { name: 'Erase for good' }).click()
  await page.getByRole('heading', { name: /^2 of 2 requests closed$/ }).waitFor()
  const { pathname, search } = new URL(page.url())
  return pathname + search
}
