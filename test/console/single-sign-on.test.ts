import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { recentSignInMs } from '../../src/domain/sign-in.ts'
import { roundTripMs } from '../../src/domain/single-sign-on.ts'
import { totpCode, totpStep } from '../../src/factors/totp-codes.ts'
import { inviteMember } from '../../src/operations/member.ts'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { addMember, copyOf, note, openConsole, password, visitor } from '../support/console.ts'
import type { Answer } from '../support/documented.ts'
import { type Account, clientSecret } from '../support/identity-provider.ts'
import { startOidcService } from '../support/oidc-service.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

after(scryptOnce(16))
const { service, provider, env } = await startOidcService({ after })

type Browser = ReturnType<typeof visitor>

async function begin(browser: Browser, body: object = {}): Promise<string> {
  return textIn(dataOf(await browser.ask('/single-sign-on', { method: 'POST', body })), 'address')
}

function finish(browser: Browser, back: URL): Promise<Answer> {
  return browser.ask('/single-sign-on/finish', { method: 'POST', body: { query: back.search } })
}

/** A complete round trip of a person, from a browser to the provider and back. */
async function signInAs(
  account: Account,
  { browser = visitor(service), body = {} } = {},
): Promise<[Answer, Browser]> {
  provider.visitor = account
  const back = await provider.visit(await begin(browser, body))
  return [await finish(browser, back), browser]
}

let count = 0

/** An account with a unique address. */
function account(changes: Partial<Account> = {}): Account {
  count += 1
  return { subject: `subject-${count}`, email: `person-${count}@acme.example`, isVerified: true, ...changes }
}

async function invited(email = '', organisationId?: string) {
  const id = organisationId ?? (await service.createOrganisation())
  await addMember(service, id)
  await inviteMember(service.services, { organisationId: id, email, role: 'desk' }, commandLine)
  return id
}

async function memberOf(browser: Browser): Promise<Record<string, unknown>> {
  return objectIn(dataOf(await browser.ask('/session')), 'member')
}

async function kindsOf(organisationId: string): Promise<string[]> {
  const query = { limit: 50, after: null, requestId: null }
  const { rows } = await service.services.activity.list(organisationId, query)
  return rows.map(({ kind, target }) => (target === null ? kind : `${kind} ${target}`)).reverse()
}

describe('signing in by single sign-on', () => {
  test('is offered with the name of the provider', async () => {
    assert.deepEqual(dataOf(await visitor(service).ask('/sign-in')), { singleSignOn: 'Acme ID' })
  })

  test('signs in an invited person with the role of the invitation, without a password', async () => {
    const ada = account()
    const organisationId = await invited(ada.email)
    const [answer, browser] = await signInAs(ada)
    assert.deepEqual(dataOf(answer), { prompt: null, organisations: [] })
    const member = await memberOf(browser)
    assert.equal(member.email, ada.email)
    assert.equal(member.role, 'desk')
    assert.deepEqual((await kindsOf(organisationId)).slice(-2), [
      ...['member.joined', 'member.signed-in single sign-on'],
    ])
  })

  test('ends the previous session of the browser', async () => {
    const ada = account()
    await invited(ada.email)
    const [, browser] = await signInAs(ada)
    const former = copyOf(service, browser)
    await signInAs(ada, { browser })
    errorOf(await former.ask('/session'), 'unauthorized')
    dataOf(await browser.ask('/session'))
  })

  test('invalidates the link of the invitation', async () => {
    const ada = account()
    const organisationId = await service.createOrganisation()
    await addMember(service, organisationId)
    const who = { organisationId, email: ada.email ?? '' }
    const { token } = await inviteMember(service.services, who, commandLine)
    await signInAs(ada)
    errorOf(await visitor(service).ask('/invitation', { method: 'POST', body: { token } }), 'not_found')
  })

  test('recognises the person by the account afterwards, not by the address', async () => {
    const ada = account()
    await invited(ada.email)
    await signInAs(ada)
    const [, browser] = await signInAs({ ...ada, email: `renamed-${ada.email}` })
    assert.equal((await memberOf(browser)).email, ada.email)
  })

  test('refuses another account with the address of a member, and records it in the activity', async () => {
    const ada = account()
    const organisationId = await invited(ada.email)
    await signInAs(ada)
    const [answer, browser] = await signInAs({ ...ada, subject: 'somebody new' })
    assert.match(textIn(errorOf(answer, 'forbidden'), 'message'), /connected with another account/)
    errorOf(await browser.ask('/session'), 'unauthorized')
    const refusal = 'member.sign-in-failed single sign-on: another account'
    await until(async () => (await kindsOf(organisationId)).at(-1) === refusal)
  })

  test('refuses the same subject and address of another provider', async () => {
    const ada = account()
    const organisationId = await service.createOrganisation()
    const member = await addMember(service, organisationId, ada.email)
    const elsewhere = { issuer: 'https://former.example', subject: ada.subject }
    const connected = note(service, organisationId, 'member.connected')
    assert.ok(await service.services.singleSignOn.connect(member, elsewhere, connected))
    const [answer, browser] = await signInAs(ada)
    assert.match(textIn(errorOf(answer, 'forbidden'), 'message'), /connected with another account/)
    errorOf(await browser.ask('/session'), 'unauthorized')
  })

  test('refuses an address that the provider has not verified', async () => {
    for (const isVerified of [false, undefined]) {
      const ada = account({ isVerified })
      await invited(ada.email)
      const [answer] = await signInAs(ada)
      assert.match(textIn(errorOf(answer, 'forbidden'), 'message'), /does not confirm/)
    }
  })

  test('refuses people who were not invited', async () => {
    const [answer] = await signInAs(account())
    assert.match(textIn(errorOf(answer, 'forbidden'), 'message'), /no invitation for person-\d+@acme.example/)
  })

  test('reports that the provider refused', async () => {
    const browser = visitor(service)
    provider.visitor = null
    const back = await provider.visit(await begin(browser))
    assert.match(textIn(errorOf(await finish(browser, back), 'unauthorized'), 'message'), /did not succeed/)
  })

  test('asks for the organisation if the person belongs to several', async () => {
    const ada = account()
    const first = await invited(ada.email)
    const second = await invited(ada.email)
    const [answer, browser] = await signInAs(ada)
    const choices = listIn(dataOf(answer), 'organisations')
    assert.deepEqual(
      choices,
      [first, second].sort().map((id) => ({ id, name: id })),
    )
    errorOf(await browser.ask('/session'), 'unauthorized')
    for (const organisationId of [first, second]) {
      const [, chosen] = await signInAs(ada, { body: { organisationId } })
      assert.equal(
        textIn(objectIn(dataOf(await chosen.ask('/session')), 'organisation'), 'id'),
        organisationId,
      )
    }
  })
})

describe('people with an address of an allowed domain', () => {
  async function open(domain: string, domainRole = 'viewer'): Promise<string> {
    const admin = await openConsole(service, await service.createOrganisation())
    const body = { domains: [` @${domain.toUpperCase()}`], domainRole }
    dataOf(await admin.ask('/sign-in-rules/domains', { method: 'POST', body }))
    assert.deepEqual(dataOf(await admin.ask('/sign-in-rules')).domains, [domain])
    return admin.member.organisationId
  }

  test('join with the role chosen by the admin', async () => {
    const organisationId = await open('joins.example', 'desk')
    const ada = account({ email: 'Ada@Joins.Example' })
    const [, browser] = await signInAs(ada)
    const member = await memberOf(browser)
    assert.equal(member.email, 'ada@joins.example')
    assert.equal(member.role, 'desk')
    const [, again] = await signInAs(ada)
    assert.deepEqual(await memberOf(again), member)
    assert.deepEqual((await kindsOf(organisationId)).slice(-4), [
      ...['sign-in-rules.changed domains: joins.example as desk', 'member.joined'],
      ...['member.signed-in single sign-on', 'member.signed-in single sign-on'],
    ])
  })

  test('join once, even if they arrive concurrently', async () => {
    const organisationId = await open('crowd.example')
    const ada = account({ email: 'ada@crowd.example' })
    const trips: { browser: Browser; back: URL }[] = []
    for (let i = 0; i < 4; i += 1) {
      const browser = visitor(service)
      provider.visitor = ada
      trips.push({ browser, back: await provider.visit(await begin(browser)) })
    }
    const answers = await Promise.all(trips.map(({ browser, back }) => finish(browser, back)))
    for (const answer of answers) dataOf(answer)
    const members = await service.services.members.list(organisationId)
    assert.deepEqual(members.map(({ email }) => email).slice(1), ['ada@crowd.example'])
  })

  test('do not join with an address that is unverified, of a subdomain, or only contains the domain', async () => {
    const organisationId = await open('strict.example')
    for (const [email, isVerified] of [
      ['ada@strict.example', false],
      ['ada@eu.strict.example', true],
      ['ada@notstrict.example', true],
      ['ada@strict.example@evil.example', true],
      ['strict.example@evil.example', true],
    ] as const) {
      errorOf((await signInAs(account({ email, isVerified })))[0], 'forbidden')
    }
    assert.equal((await service.services.members.list(organisationId)).length, 1)
  })

  test('choose if several organisations allow it, unless they are members already', async () => {
    const both = [await open('shared.example'), await open('shared.example')]
    const ada = account({ email: 'ada@shared.example' })
    const [answer] = await signInAs(ada)
    assert.deepEqual(
      listIn(dataOf(answer), 'organisations').map((each) => textIn(each, 'id')),
      [...both].sort(),
    )
    const [organisationId] = both
    await signInAs(ada, { body: { organisationId } })
    const [, browser] = await signInAs(ada)
    assert.equal(
      textIn(objectIn(dataOf(await browser.ask('/session')), 'organisation'), 'id'),
      organisationId,
    )
  })

  test('are allowed only by an admin, who enters the domains', async () => {
    const admin = await openConsole(service, await service.createOrganisation())
    for (const domain of [
      '',
      'acme',
      'a b.example',
      'acme.example/x',
      '%.example',
      'acme.example"',
      'ä.example',
    ]) {
      const body = { domains: [domain], domainRole: 'viewer' }
      assert.deepEqual(problemFields(await admin.ask('/sign-in-rules/domains', { method: 'POST', body })), [
        'domains',
      ])
    }
  })
})

describe('a round trip', () => {
  test('is completed once, even if the browser sends the code twice concurrently', async () => {
    const ada = account()
    await invited(ada.email)
    const browser = visitor(service)
    provider.visitor = ada
    const back = await provider.visit(await begin(browser))
    const answers = await Promise.all([finish(browser, back), finish(browser, back)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
    errorOf(await finish(browser, back), 'invalid_request')
  })

  test('belongs to the browser in which it started, with its state', async () => {
    const ada = account()
    await invited(ada.email)
    const browser = visitor(service)
    provider.visitor = ada
    const back = await provider.visit(await begin(browser))
    const other = visitor(service)
    errorOf(await finish(other, back), 'invalid_request')
    await begin(other)
    errorOf(await finish(other, back), 'invalid_request')
    const forged = new URL(back)
    forged.searchParams.set('state', 'another')
    errorOf(await finish(browser, forged), 'invalid_request')
    dataOf(await finish(browser, back))
  })

  test('may run concurrently with another one in the same browser', async () => {
    const [ada, bob] = [account(), account()]
    await invited(ada.email)
    await invited(bob.email)
    const browser = visitor(service)
    const backs: URL[] = []
    for (const each of [ada, bob]) {
      provider.visitor = each
      backs.push(await provider.visit(await begin(browser)))
    }
    for (const [i, each] of [ada, bob].entries()) {
      const back = backs[i]
      assert.ok(back)
      dataOf(await finish(browser, back))
      assert.equal((await memberOf(browser)).email, each.email)
    }
  })

  test('is refused if the address is of another provider, and then cannot be repeated', async () => {
    const browser = visitor(service)
    provider.visitor = account()
    const back = await provider.visit(await begin(browser))
    const mixedUp = new URL(back)
    mixedUp.searchParams.set('iss', 'https://evil.example')
    errorOf(await finish(browser, mixedUp), 'unauthorized')
    errorOf(await finish(browser, back), 'invalid_request')
  })

  test('expires', async (t) => {
    const own = await startTestService(t, env)
    provider.register(own.url)
    t.after(() => provider.register(service.url))
    const browser = visitor(own)
    provider.visitor = account()
    const back = await provider.visit(await begin(browser))
    own.passTime(roundTripMs)
    errorOf(await finish(browser, back), 'invalid_request')
  })

  test('cannot start or end on a page of another site', async () => {
    for (const path of ['/single-sign-on', '/single-sign-on/finish']) {
      const headers = { origin: 'https://evil.example' }
      errorOf(await visitor(service).ask(path, { method: 'POST', body: { query: '' }, headers }), 'forbidden')
    }
  })

  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const answer = await visitor(service).ask('/single-sign-on', { method: 'POST', body: {} })
    const [cookie = ''] = answer.headers.getSetCookie()
    assert.match(
      cookie,
      /^lethe-single-sign-on=\w{43}; Max-Age=600; Path=\/console; HttpOnly; SameSite=Strict$/,
    )
  })

  test('logs no code, state, token or secret, but a reason for each failure', async () => {
    const ada = account()
    await invited(ada.email)
    const browser = visitor(service)
    provider.visitor = ada
    const back = await provider.visit(await begin(browser))
    dataOf(await finish(browser, back))
    const log = service.logged.join('\n')
    for (const secret of [
      ...back.searchParams.values(),
      ...[browser.cookie, browser.roundTrip].map((pair) => pair?.split('=')[1] ?? ''),
      ...[clientSecret, ada.email ?? '', ada.subject],
    ]) {
      if (secret !== provider.issuer) assert.ok(secret !== '' && !log.includes(secret), secret)
    }
    assert.match(log, /"reason":"OAUTH_AUTHORIZATION_RESPONSE_ERROR access_denied"/)
    assert.doesNotMatch(log, /"level":50/)
  })
})

describe('a provider that cannot be reached', () => {
  test('does not prevent startup, and allows signing in once it is back', async (t) => {
    await provider.stop()
    const own = await startTestService(t, env)
    const browser = visitor(own)
    const answer = await browser.ask('/single-sign-on', { method: 'POST', body: {} })
    assert.match(textIn(errorOf(answer, 'internal_error'), 'message'), /identity provider cannot be reached/)
    assert.deepEqual(dataOf(await browser.ask('/sign-in')), { singleSignOn: 'Acme ID' })
    await provider.start()
    provider.register(own.url)
    t.after(() => provider.register(service.url))
    provider.visitor = account()
    const back = await provider.visit(await begin(browser))
    errorOf(await finish(browser, back), 'forbidden')
  })

  test('is named if it fails during the round trip', async () => {
    const browser = visitor(service)
    provider.visitor = account()
    const back = await provider.visit(await begin(browser))
    await provider.stop()
    const answer = await finish(browser, back)
    await provider.start()
    assert.match(textIn(errorOf(answer, 'internal_error'), 'message'), /identity provider cannot be reached/)
  })
})

describe('the rule about passwords', () => {
  const forbid = (browser: Browser, passwordAllowed = false) =>
    browser.ask('/sign-in-rules/password', { method: 'POST', body: { passwordAllowed } })

  test('can disable passwords only by an admin signed in with single sign-on, and then refuses them', async () => {
    const admin = await openConsole(service, await service.createOrganisation())
    const { organisationId, email } = admin.member
    errorOf(await forbid(admin), 'invalid_request')
    const [, browser] = await signInAs(account({ email }))
    dataOf(await forbid(browser))
    const signIn = (typed: string) =>
      visitor(service).ask('/sign-in', { method: 'POST', body: { email, password: typed, organisationId } })
    assert.match(textIn(errorOf(await signIn(password), 'forbidden'), 'message'), /does not allow passwords/)
    errorOf(await signIn('another password'), 'unauthorized')
    dataOf(await browser.ask('/session'))
    const who = { organisationId, email: account().email ?? '' }
    const { token } = await inviteMember(service.services, who, commandLine)
    const link = dataOf(await visitor(service).ask('/invitation', { method: 'POST', body: { token } }))
    assert.partialDeepStrictEqual(link, { organisationId, passwordAllowed: false })
    dataOf(await forbid(browser, true))
    dataOf(await signIn(password))
  })

  test('has no effect without an identity provider, so that nobody is locked out', async (t) => {
    const own = await startTestService(t)
    const organisationId = await own.createOrganisation()
    const { email } = await addMember(own, organisationId)
    const change = note(own, organisationId, 'sign-in-rules.changed')
    await own.services.signInRules.change(organisationId, { passwordAllowed: false }, change)
    dataOf(await visitor(own).ask('/sign-in', { method: 'POST', body: { email, password } }))
    assert.deepEqual(dataOf(await visitor(own).ask('/sign-in')), { singleSignOn: null })
    errorOf(await visitor(own).ask('/single-sign-on', { method: 'POST', body: {} }), 'not_found')
  })
})

describe('roles from the provider', () => {
  test('are set at each sign-in, refuse people without one, and never remove the last admin', async (t) => {
    const roles = { LETHE_OIDC_ROLES: 'admin=bosses,desk=privacy', LETHE_OIDC_SCOPES: 'openid email groups' }
    const own = await startTestService(t, { ...env, ...roles })
    provider.register(own.url)
    t.after(() => provider.register(service.url))
    const organisationId = await own.createOrganisation()
    const ada = account({ groups: ['bosses', 'staff'] })
    const who = { organisationId, email: ada.email ?? '' }
    await inviteMember(own.services, who, commandLine)
    const roleAs = async (person: Account) => {
      const [answer, browser] = await signInAs(person, { browser: visitor(own) })
      dataOf(answer)
      return (await memberOf(browser)).role
    }
    assert.equal(await roleAs(ada), 'admin')
    assert.equal(await roleAs({ ...ada, groups: ['privacy'] }), 'admin', 'the last admin')
    const bob = account()
    await inviteMember(own.services, { organisationId, email: bob.email ?? '', role: 'viewer' }, commandLine)
    assert.equal(await roleAs({ ...bob, groups: ['bosses'] }), 'admin')
    assert.equal(await roleAs({ ...ada, groups: ['privacy'] }), 'desk')
    const [answer] = await signInAs({ ...bob, groups: ['staff'] }, { browser: visitor(own) })
    assert.match(textIn(errorOf(answer, 'forbidden'), 'message'), /gives you no role/)
  })
})

describe('signing in again to confirm', () => {
  async function verify(browser: Browser, person: Account): Promise<Answer> {
    provider.visitor = person
    const begun = await browser.ask('/verification/single-sign-on', { method: 'POST', body: {} })
    return finish(browser, await provider.visit(textIn(dataOf(begun), 'address')))
  }

  test('leads to the provider and back, replaces the session, and is valid for ten minutes', async (t) => {
    const own = await startTestService(t, env)
    provider.register(own.url)
    t.after(() => provider.register(service.url))
    const organisationId = await own.createOrganisation()
    const ada = account()
    await inviteMember(own.services, { organisationId, email: ada.email ?? '' }, commandLine)
    const [, browser] = await signInAs(ada, { browser: visitor(own) })
    const isRecent = () => browser.ask('/verification')
    dataOf(await isRecent())
    own.passTime(recentSignInMs + 1_000)
    errorOf(await isRecent(), 'unauthorized')
    const options = dataOf(await browser.ask('/verification/options', { method: 'POST', body: {} }))
    assert.deepEqual(options.proofs, ['single-sign-on'])
    const old = browser.cookie
    const proofs = provider.proofs
    own.passTime(-recentSignInMs)
    dataOf(await verify(browser, ada))
    assert.equal(provider.proofs, proofs + 1)
    dataOf(await isRecent())
    assert.notEqual(browser.cookie, old)
    errorOf(await browser.ask('/session', { headers: { cookie: old } }), 'unauthorized')
  })

  test('cannot bypass a second factor, even one that is added meanwhile', async () => {
    const ada = account()
    await invited(ada.email)
    const [, browser] = await signInAs(ada)
    const begun = await browser.ask('/verification/single-sign-on', { method: 'POST', body: {} })
    const back = await provider.visit(textIn(dataOf(begun), 'address'))
    const offer = dataOf(await browser.ask('/account/totp/offer', { method: 'POST', body: {} }))
    const code = totpCode(textIn(offer, 'secret'), totpStep(service.services.clock()))
    dataOf(await browser.ask('/account/totp', { method: 'POST', body: { token: offer.token, code } }))
    errorOf(await finish(browser, back), 'forbidden')
    const again = await browser.ask('/verification/single-sign-on', { method: 'POST', body: {} })
    assert.match(textIn(errorOf(again, 'forbidden'), 'message'), /second factor/)
  })

  test('does not work with another account, which is recorded in the activity', async () => {
    const ada = account()
    const organisationId = await invited(ada.email)
    const [, browser] = await signInAs(ada)
    errorOf(await verify(browser, account()), 'forbidden')
    await until(async () =>
      (await kindsOf(organisationId)).includes('member.verification-failed single sign-on'),
    )
  })
})
