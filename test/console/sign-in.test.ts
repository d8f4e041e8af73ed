import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { hashToken } from '../../src/domain/randomness.ts'
import { idleTimeoutMs, maxSignInMs } from '../../src/domain/sign-in.ts'
import { inviteMember, issueLink } from '../../src/operations/member.ts'
import { dataOf, errorOf, objectIn, problemFields, textIn } from '../support/answers.ts'
import { addMember, copyOf, openConsole, password, signedIn, visitor } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { type Lifetime, startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

after(scryptOnce(16))
const service = await startTestService({ after })
const organisationId = await service.createOrganisation('acme')

async function invite(email: string, org = organisationId): Promise<string> {
  return (await inviteMember(service.services, { organisationId: org, email }, commandLine)).token
}

describe('a one-time link', () => {
  test('shows its account, sets the password and signs in, once', async () => {
    const token = await invite('Ada@Acme.example ')
    const browser = visitor(service)
    assert.deepEqual(dataOf(await browser.ask('/invitation', { method: 'POST', body: { token } })), {
      email: 'ada@acme.example',
      organisation: 'acme',
      organisationId: 'acme',
      hasPassword: false,
      passwordAllowed: true,
    })
    dataOf(await browser.ask('/invitation/accept', { method: 'POST', body: { token, password } }))
    const session = dataOf(await browser.ask('/session'))
    assert.equal(textIn(objectIn(session, 'member'), 'email'), 'ada@acme.example')
    assert.deepEqual(session.organisation, { id: 'acme', name: 'acme', plan: 'free', retentionDays: 180 })
    for (const path of ['/invitation', '/invitation/accept']) {
      const body = path === '/invitation' ? { token } : { token, password }
      errorOf(await visitor(service).ask(path, { method: 'POST', body }), 'not_found')
    }
    const again = visitor(service)
    dataOf(await again.ask('/sign-in', { method: 'POST', body: { email: 'ADA@acme.example', password } }))
    dataOf(await again.ask('/session'))
  })

  test('is valid for a day', async (t) => {
    const late = await startTestService(t)
    await late.createOrganisation('acme')
    const { token } = await inviteMember(late.services, { organisationId, email: 'a@b.example' }, commandLine)
    const look = () => visitor(late).ask('/invitation', { method: 'POST', body: { token } })
    late.passTime(86_340_000)
    dataOf(await look())
    late.passTime(60_000)
    errorOf(await look(), 'not_found')
  })

  test('rejects a password that is too short, and stays valid', async () => {
    const token = await invite('short@acme.example')
    const accept = (password: string) =>
      visitor(service).ask('/invitation/accept', { method: 'POST', body: { token, password } })
    assert.deepEqual(problemFields(await accept('eleven char')), ['password'])
    dataOf(await accept('twelve chars'))
  })

  test('ends all previous sessions when it sets a new password', async () => {
    const browser = await openConsole(service, organisationId, 'again@acme.example')
    const found = await service.services.members.findByEmail('again@acme.example', organisationId)
    assert.ok(found)
    const { token } = await issueLink(service.services, found.member, commandLine)
    dataOf(await browser.ask('/session'))
    const other = visitor(service)
    dataOf(
      await other.ask('/invitation/accept', {
        method: 'POST',
        body: { token, password: 'another password' },
      }),
    )
    errorOf(await browser.ask('/session'), 'unauthorized')
    dataOf(await other.ask('/session'))
  })
})

describe('signing in', () => {
  test('fails with the same message for an unknown account, an account without a password, and a wrong password', async () => {
    await addMember(service, organisationId, 'known@acme.example')
    await invite('invited@acme.example')
    const answers = []
    for (const email of ['known@acme.example', 'invited@acme.example', 'nobody@acme.example']) {
      const answer = await visitor(service).ask('/sign-in', {
        method: 'POST',
        body: { email, password: 'not the password' },
        headers: { 'x-request-id': 'same' },
      })
      errorOf(answer, 'unauthorized')
      const headers = [...answer.headers].filter(
        ([name]) => !/^(date|x-ratelimit-(reset|remaining))$/.test(name),
      )
      answers.push(JSON.stringify([objectIn(answer.body, 'error'), headers]))
    }
    assert.equal(new Set(answers).size, 1, answers.join('\n'))
    assert.doesNotMatch(answers[0] ?? '', /www-authenticate|set-cookie/)
  })

  test('needs the organisation if the address is a member of several', async () => {
    const other = await service.createOrganisation()
    await addMember(service, organisationId, 'both@acme.example')
    await addMember(service, other, 'both@acme.example')
    const body = { email: 'both@acme.example', password }
    errorOf(await visitor(service).ask('/sign-in', { method: 'POST', body }), 'unauthorized')
    for (const id of [organisationId, other]) {
      const browser = visitor(service)
      dataOf(await browser.ask('/sign-in', { method: 'POST', body: { ...body, organisationId: id } }))
      const { organisation } = dataOf(await browser.ask('/session'))
      assert.equal(textIn(organisation, 'id'), id)
    }
  })

  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    await addMember(service, organisationId, 'cookie@acme.example')
    const answer = await visitor(service).ask('/sign-in', {
      method: 'POST',
      body: { email: 'cookie@acme.example', password },
    })
    const [token = '', mark = ''] = answer.headers.getSetCookie()
    assert.match(
      token,
      /^lethe-console=[0-9A-Za-z]{43}; Max-Age=604800; Path=\/console; HttpOnly; SameSite=Strict$/,
    )
    assert.match(
      mark,
      /^lethe-browser=[0-9A-Za-z]{22}\.[\w-]{43}; Max-Age=15552000; Path=\/console; HttpOnly; SameSite=Strict$/,
    )
  })

  test('reports every missing or unknown field', async () => {
    const browser = visitor(service)
    const fields = async (body: unknown) =>
      problemFields(await browser.ask('/sign-in', { method: 'POST', body }))
    assert.deepEqual(await fields({}), ['email', 'password'])
    assert.deepEqual(await fields({ email: 1, password: ['x'], remember: true }), [
      'email',
      'password',
      'remember',
    ])
    for (const body of ['', 'nonsense', '[]', 'null', '"text"']) {
      const answer = await browser.ask('/sign-in', { method: 'POST', body })
      assert.ok([400, 422].includes(answer.status), `${body} is ${answer.status}`)
    }
  })
})

describe('the console behind a proxy with TLS', () => {
  test('has Secure cookies bound to the host, and accepts no others', async (t) => {
    const proxied = await startTestService(t, { LETHE_TRUSTED_PROXIES: '127.0.0.1' })
    await proxied.createOrganisation('acme')
    await addMember(proxied, 'acme', 'tls@acme.example')
    const headers = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'lethe.example',
      origin: 'https://lethe.example',
    }
    const browser = visitor(proxied)
    const body = { email: 'tls@acme.example', password }
    const answer = await browser.ask('/sign-in', { method: 'POST', body, headers })
    dataOf(answer)
    const cookies = answer.headers.getSetCookie()
    assert.equal(cookies.length, 2)
    for (const cookie of cookies) {
      assert.match(
        cookie,
        /^__Host-lethe-(console|browser)=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
    }
    dataOf(await browser.ask('/session', { headers }))
    errorOf(await browser.ask('/session'), 'unauthorized')
    // The cookie of an earlier version is invalid and is deleted.
    const token = browser.cookie?.split('=')[1] ?? ''
    const former = { ...headers, cookie: `__Secure-lethe-console=${token}` }
    errorOf(await visitor(proxied).ask('/session', { headers: former }), 'unauthorized')
    const upgraded = await visitor(proxied).ask('/sign-in', { method: 'POST', body, headers: former })
    assert.match(
      upgraded.headers.getSetCookie()[2] ?? '',
      /^__Secure-lethe-console=; Max-Age=0; Path=\/console; HttpOnly; SameSite=Strict; Secure$/,
    )
  })

  test('ignores forwarded headers of an untrusted proxy', async () => {
    await addMember(service, organisationId, 'untrusted@acme.example')
    const body = { email: 'untrusted@acme.example', password }
    const answer = await visitor(service).ask('/sign-in', {
      method: 'POST',
      body,
      headers: { 'x-forwarded-proto': 'https' },
    })
    assert.doesNotMatch(answer.headers.get('set-cookie') ?? '', /Secure/)
    const headers = { 'x-forwarded-host': 'lethe.example', origin: 'https://lethe.example' }
    errorOf(await visitor(service).ask('/sign-in', { method: 'POST', body, headers }), 'forbidden')
  })

  test('allows a configured public address as origin', async (t) => {
    const published = await startTestService(t, { LETHE_PUBLIC_URL: 'https://lethe.example' })
    await published.createOrganisation('acme')
    await addMember(published, 'acme', 'pub@acme.example')
    const body = { email: 'pub@acme.example', password }
    const headers = { origin: 'https://lethe.example' }
    const answer = await visitor(published).ask('/sign-in', { method: 'POST', body, headers })
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-.*; Secure$/)
  })
})

describe('a sign-in', () => {
  test('ends on signing out, which deletes its cookie', async () => {
    const browser = await openConsole(service, organisationId)
    const { cookie } = browser
    const answer = await browser.ask('/sign-out', { method: 'POST', body: {} })
    dataOf(answer)
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /^lethe-console=; Max-Age=0; Path=\/console; HttpOnly/,
    )
    const stolen = Object.assign(visitor(service), { cookie })
    errorOf(await stolen.ask('/session'), 'unauthorized')
  })

  test('ends when someone signs in again in the same browser with a password or link; other sessions remain', async () => {
    const browser = await openConsole(service, organisationId)
    const elsewhere = await signedIn(service, browser.member)
    const { email } = browser.member
    let former = copyOf(service, browser)
    const signIn = (typed: string) =>
      browser.ask('/sign-in', { method: 'POST', body: { email, password: typed } })
    errorOf(await signIn('wrong'), 'unauthorized')
    dataOf(await former.ask('/session'))
    dataOf(await signIn(password))
    errorOf(await former.ask('/session'), 'unauthorized')
    dataOf(await browser.ask('/session'))
    dataOf(await elsewhere.ask('/session'))

    former = copyOf(service, browser)
    const who = { organisationId, email: 'next-at-this-browser@acme.example' }
    const { token } = await inviteMember(service.services, who, commandLine)
    dataOf(await browser.ask('/invitation/accept', { method: 'POST', body: { token, password } }))
    errorOf(await former.ask('/session'), 'unauthorized')
    dataOf(await elsewhere.ask('/session'))
  })

  test('ends on signing out everywhere, on every device of this member only', async () => {
    const here = await openConsole(service, organisationId)
    const there = await signedIn(service, here.member)
    const other = await openConsole(service, organisationId)
    dataOf(await here.ask('/sign-out-everywhere', { method: 'POST', body: {} }))
    errorOf(await there.ask('/session'), 'unauthorized')
    dataOf(await other.ask('/session'))
  })

  test('ends after inactivity, and after its maximum lifetime', async (t) => {
    const timed = await startTestService(t)
    await timed.createOrganisation('acme')
    const idle = await openConsole(timed, 'acme')
    const busy = await signedIn(timed, idle.member)
    const { services } = timed
    const tokenHash = hashToken(busy.cookie?.split('=')[1] ?? '')
    /** Sends a request, and waits until its time is stored. */
    async function stayBusy(): Promise<void> {
      const now = services.clock()
      dataOf(await busy.ask('/session'))
      await until(async () => Number((await services.signIns.find(tokenHash))?.signIn.lastSeenAt) >= now)
    }
    timed.passTime(idleTimeoutMs - 60_000)
    await stayBusy()
    timed.passTime(60_000)
    errorOf(await idle.ask('/session'), 'unauthorized')
    for (let passed = idleTimeoutMs; passed < maxSignInMs - idleTimeoutMs; passed += idleTimeoutMs - 60_000) {
      await stayBusy()
      timed.passTime(idleTimeoutMs - 60_000)
    }
    await stayBusy()
    timed.passTime(idleTimeoutMs - 1)
    errorOf(await busy.ask('/session'), 'unauthorized')
  })

  test('that started while the clock was far ahead ends once the clock is correct', async (t) => {
    const timed = await startTestService(t)
    await timed.createOrganisation('acme')
    const before = await openConsole(timed, 'acme')
    timed.passTime(maxSignInMs)
    const ahead = await signedIn(timed, before.member)
    dataOf(await ahead.ask('/session'))
    timed.passTime(-maxSignInMs)
    errorOf(await ahead.ask('/session'), 'unauthorized')
    const after = await signedIn(timed, before.member)
    timed.passTime(-60_000)
    dataOf(await after.ask('/session'))
  })
})

/** A service behind a proxy, with a member whose password is under attack from many addresses. */
async function guardedService(t: Lifetime) {
  const guarded = await startTestService(t, { LETHE_TRUSTED_PROXIES: '127.0.0.1' })
  await guarded.createOrganisation('acme')
  await addMember(guarded, 'acme', 'ada@acme.example')
  const client = () => visitor(guarded)
  const attempt = (address: string, guess: string, from = client()) =>
    from.ask('/sign-in', {
      method: 'POST',
      body: { email: 'ada@acme.example', password: guess },
      headers: { 'x-forwarded-for': address },
    })
  return { guarded, attempt, client }
}

describe('attempts to sign in', () => {
  test('on one account from one address are refused after ten until the window ends, whether valid or not', async (t) => {
    const guarded = await startTestService(t)
    await guarded.createOrganisation('acme')
    await addMember(guarded, 'acme', 'ada@acme.example')
    const attempt = (email: string, guess: string) =>
      visitor(guarded).ask('/sign-in', { method: 'POST', body: { email, password: guess } })
    for (const email of ['ada@acme.example', 'nobody@acme.example']) {
      const guesses = Array.from({ length: 10 }, (_, i) =>
        attempt(i % 2 ? email : email.toUpperCase(), 'wrong'),
      )
      for (const answer of await Promise.all(guesses)) errorOf(answer, 'unauthorized')
      const refused = await attempt(email, password)
      const { message } = errorOf(refused, 'rate_limited')
      assert.match(String(message), /^Too many attempts\. Try again in 1[45] minutes\.$/)
      assert.ok(Number(refused.headers.get('retry-after')) > 800)
    }
    guarded.passTime(15 * 60_000)
    dataOf(await attempt('ada@acme.example', password))
  })

  test('from elsewhere do not lock out a member', async (t) => {
    const { attempt } = await guardedService(t)
    for (let i = 0; i < 10; i++) errorOf(await attempt('198.51.100.1', 'wrong'), 'unauthorized')
    errorOf(await attempt('198.51.100.1', password), 'rate_limited')
    dataOf(await attempt('203.0.113.7', password))
  })

  test('from many addresses are limited to 100 an hour, except from known browsers', async (t) => {
    const { guarded, attempt, client } = await guardedService(t)
    const known = client()
    dataOf(await attempt('203.0.113.7', password, known))
    for (let i = 1; i < 100; i++) errorOf(await attempt(`198.51.100.${i}`, 'wrong'), 'unauthorized')
    const refused = await attempt('198.51.100.200', password)
    errorOf(refused, 'rate_limited')
    assert.ok(Number(refused.headers.get('retry-after')) > 3_500)
    // A known browser can sign in from anywhere, within its own budget.
    dataOf(await attempt('198.51.100.201', password, known))
    for (let i = 0; i < 9; i++) errorOf(await attempt('198.51.100.202', 'wrong', known), 'unauthorized')
    errorOf(await attempt('198.51.100.203', password, known), 'rate_limited')
    // A forged mark, or one of another member, does not make a browser known.
    const forger = client()
    for (const mark of [
      'lethe-browser=x.y',
      'lethe-browser=.',
      `${known.mark}x`,
      known.mark?.replace('.', 'x.'),
    ]) {
      forger.mark = mark ?? null
      errorOf(await attempt('198.51.100.204', password, forger), 'rate_limited')
    }
    guarded.passTime(60 * 60_000)
    dataOf(await attempt('198.51.100.205', password))
  })

  test('from one address are refused after 30, on any account', async (t) => {
    const guarded = await startTestService(t)
    await guarded.createOrganisation('acme')
    const client = await openConsole(guarded, 'acme')
    const attempt = (i: number) =>
      visitor(guarded).ask('/invitation', { method: 'POST', body: { token: `guess-${i}` } })
    for (let i = 0; i < 30; i++) errorOf(await attempt(i), 'not_found')
    errorOf(await attempt(30), 'rate_limited')
    const body = { email: client.member.email, password }
    errorOf(await visitor(guarded).ask('/sign-in', { method: 'POST', body }), 'rate_limited')
    dataOf(await client.ask('/session'))
  })
})
