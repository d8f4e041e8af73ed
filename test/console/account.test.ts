import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { idleTimeoutMs } from '../../src/domain/sign-in.ts'
import { describeDevice } from '../../src/http/console/device.ts'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { addMember, password, signedIn, signInToken, visitor } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

after(scryptOnce(16))
const service = await startTestService({ after })
const organisationId = await service.createOrganisation('acme')
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

async function signIn(email: string): Promise<ReturnType<typeof visitor>> {
  const browser = visitor(service)
  const headers = { 'user-agent': firefox }
  dataOf(await browser.ask('/sign-in', { method: 'POST', body: { email, password }, headers }))
  return browser
}

const post = { method: 'POST', body: {} }
type Browser = Pick<ReturnType<typeof visitor>, 'ask'>
const sessionsOf = async (browser: Browser) =>
  listIn(dataOf(await browser.ask('/account/sign-ins')), 'signIns')

describe('the account of a member', () => {
  test('lists the sessions with device, address and times, and marks the current one', async () => {
    const member = await addMember(service, organisationId, 'ada@acme.example', 'viewer')
    const browser = await signIn(member.email)
    const old = await signInToken(service, member)
    const sessions = await sessionsOf(browser)
    const current = sessions.find((each) => Object(each).isCurrent)
    assert.partialDeepStrictEqual(current, {
      ...{ device: 'Firefox on Linux', address: '127.0.0.1', method: 'password' },
    })
    assert.equal(sessions.length, 2)
    assert.equal(JSON.stringify(sessions).includes(old), false)
    service.passTime(idleTimeoutMs - 600_000)
    dataOf(await browser.ask('/session'))
    await until(async () => Object((await sessionsOf(browser))[0]).lastSeenAt !== Object(current).lastSeenAt)
    service.passTime(600_000)
    assert.equal((await sessionsOf(browser)).length, 1, 'expired ones are not shown')
  })

  test('ends one session, or all others, for their next request', async () => {
    const member = await addMember(service, organisationId, 'ben@acme.example', 'viewer')
    const browsers = [await signIn(member.email), await signIn(member.email), await signIn(member.email)]
    const [mine, second, third] = browsers
    assert.ok(mine && second && third)
    const idOf = async (browser: Browser) => {
      const own = (await sessionsOf(browser)).find((each) => Object(each).isCurrent)
      return textIn(own, 'id')
    }
    const secondId = await idOf(second)
    dataOf(await mine.ask(`/account/sign-ins/${secondId}/end`, post))
    errorOf(await second.ask('/session'), 'unauthorized')
    errorOf(await mine.ask(`/account/sign-ins/${secondId}/end`, post), 'not_found')
    const fourth = await signIn(member.email)
    dataOf(await mine.ask('/account/end-other-sign-ins', post))
    for (const browser of [third, fourth]) errorOf(await browser.ask('/session'), 'unauthorized')
    dataOf(await mine.ask(`/account/sign-ins/${await idOf(mine)}/end`, post))
    errorOf(await mine.ask('/session'), 'unauthorized')
    const { rows } = await service.services.activity.list(organisationId, {
      ...{ limit: 200, after: null, requestId: null, actor: member.id },
    })
    const ended = rows.filter(({ kind }) => kind.startsWith('member.signed-out'))
    assert.deepEqual(ended.map(({ kind, target }) => `${kind} ${target}`).sort(), [
      'member.signed-out Firefox on Linux',
      'member.signed-out-elsewhere Firefox on Linux',
      'member.signed-out-elsewhere null',
    ])
  })

  test('cannot end a session of another member', async () => {
    const [one, other] = [await addMember(service, organisationId), await addMember(service, organisationId)]
    const [mine, theirs] = [await signedIn(service, one), await signedIn(service, other)]
    const [session] = await sessionsOf(theirs)
    errorOf(await mine.ask(`/account/sign-ins/${textIn(session, 'id')}/end`, post), 'not_found')
    dataOf(await mine.ask('/account/end-other-sign-ins', post))
    dataOf(await theirs.ask('/session'))
  })

  test('has a language for documents, which is the organisation’s by default', async () => {
    const client = await signedIn(service, await addMember(service, organisationId))
    const set = (language: unknown) => client.ask('/account/language', { method: 'POST', body: { language } })
    const person = { identifiers: [{ name: 'email', value: 'anna@example.com' }], subjects: [] }
    const created = await client.ask('/requests', { method: 'POST', body: { kind: 'access', person } })
    const id = textIn(objectIn(dataOf(created), 'request'), 'requestId')
    const replyLanguage = async () => textIn(dataOf(await client.ask(`/requests/${id}/reply`)), 'language')
    assert.equal(await replyLanguage(), 'en')
    dataOf(await set('de'))
    assert.equal(dataOf(await client.ask('/session')).language, 'de')
    assert.equal(await replyLanguage(), 'de')
    assert.equal(dataOf(await (await signedIn(service, client.member)).ask('/session')).language, 'de')
    dataOf(await set(null))
    assert.equal(await replyLanguage(), 'en')
    assert.deepEqual(problemFields(await set('xx')), ['language'])
  })
})

test('a device is described in common words', () => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0'
  const phone =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
  const devices: [string | undefined, string | null][] = [
    [firefox, 'Firefox on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/141.0.0.0`, 'Edge on Windows'],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${chrome} Safari/537.36`, 'Chrome on macOS'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`, 'Chrome on Android'],
    [`${phone} Version/18.5 Mobile/15E148 Safari/604.1`, 'Safari on iPhone'],
    ['curl/8.5.0', null],
    [undefined, null],
  ]
  for (const [userAgent, device] of devices) assert.equal(describeDevice(userAgent), device)
})
