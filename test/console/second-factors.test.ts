import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { challengeMs } from '../../src/domain/sign-in-challenge.ts'
import { totpCode, totpStep } from '../../src/factors/totp-codes.ts'
import { issueLink } from '../../src/operations/member.ts'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { softwarePasskey } from '../support/authenticator.ts'
import { addMember, type ConsoleClient, copyOf, password, signedIn, visitor } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

after(scryptOnce(16))
const service = await startTestService({ after })
// Passkeys need a host name.
const origin = service.url.replace('127.0.0.1', 'localhost')
const at = { ...service, url: origin }
const organisationId = await service.createOrganisation('acme')

const post = (body: object = {}) => ({ method: 'POST', body })

/** A signed-in member of an organisation. */
async function join(organisation = organisationId): Promise<ConsoleClient> {
  return signedIn(at, await addMember(service, organisation))
}

/** The next code of an app; each time step has one code. */
function nextCode(secret: string): string {
  service.passTime(30_000)
  return totpCode(secret, totpStep(service.services.clock()))
}

async function addTotp(client: ConsoleClient): Promise<{ secret: string; codes: string[] }> {
  const { token, secret } = dataOf(await client.ask('/account/totp/offer', post()))
  const code = nextCode(String(secret))
  const added = dataOf(await client.ask('/account/totp', post({ token, code })))
  const codes = Array.isArray(added.recoveryCodes) ? added.recoveryCodes.map(String) : []
  return { secret: String(secret), codes }
}

async function addPasskey(client: ConsoleClient, name = 'Laptop', options = {}, where = origin) {
  const passkey = softwarePasskey(where, options)
  const asked = dataOf(await client.ask('/account/passkeys/options', post()))
  const made = { challenge: textIn(asked, 'challenge'), user: { id: textIn(asked.user, 'id') } }
  const response = passkey.register(made)
  const added = dataOf(await client.ask('/account/passkeys', post({ name, response })))
  return { passkey, codes: added.recoveryCodes }
}

/** The first step of signing in, which returns the prompt for the second one. */
async function firstStep({ member }: ConsoleClient) {
  const browser = visitor(at)
  const { prompt } = dataOf(await browser.ask('/sign-in', post({ email: member.email, password })))
  return {
    browser,
    token: textIn(prompt, 'token'),
    proofs: listIn(prompt, 'proofs'),
    passkey: prompt,
    answer: (answer: object) =>
      browser.ask('/sign-in/second-factor', post({ token: textIn(prompt, 'token'), ...answer })),
  }
}

/** The newest entries of the activity about a member, newest first. */
async function activityOf({ member }: ConsoleClient): Promise<string[]> {
  const query = { limit: 50, after: null, requestId: null, actor: member.id }
  const { rows } = await service.services.activity.list(member.organisationId, query)
  return rows.map(({ kind, target }) => `${kind} ${target}`)
}

describe('an authenticator app', () => {
  test('is active once a code has confirmed it; codes are requested after the password, each valid once', async () => {
    const client = await join()
    const { token, secret, uri } = dataOf(await client.ask('/account/totp/offer', post()))
    assert.match(String(uri), new RegExp(`^otpauth://totp/Lethe%20\\(acme\\):.*secret=${secret}&`))
    assert.deepEqual(problemFields(await client.ask('/account/totp', post({ token, code: '000000' }))), [
      'code',
    ])
    assert.equal(dataOf(await client.ask('/account/second-factors')).totp, null)
    const first = nextCode(String(secret))
    const added = dataOf(await client.ask('/account/totp', post({ token, code: first })))
    assert.equal(listIn(added, 'recoveryCodes').length, 10)
    errorOf(await client.ask('/account/totp', post({ token, code: first })), 'invalid_request')

    const step = await firstStep(client)
    assert.deepEqual(step.proofs, ['totp', 'recovery-code'])
    errorOf(await step.browser.ask('/session'), 'unauthorized')
    errorOf(await step.answer({ code: first }), 'unauthorized')
    const code = nextCode(String(secret))
    dataOf(await step.answer({ code }))
    dataOf(await step.browser.ask('/session'))
    const again = await firstStep(client)
    errorOf(await again.answer({ code }), 'unauthorized')
    errorOf(await step.answer({ code: nextCode(String(secret)) }), 'invalid_request')
    await until(async () => (await activityOf(client)).includes('member.sign-in-failed authenticator app'))
    assert.ok((await activityOf(client)).includes('member.signed-in password and authenticator app'))
  })

  test('accepts codes one step early or late, and no others', async () => {
    const client = await join()
    const { secret } = await addTotp(client)
    service.passTime(5 * 60_000)
    const { answer } = await firstStep(client)
    // From the start of a step, no other one starts during the test.
    service.passTime(30_000 - (service.services.clock() % 30_000))
    const now = totpStep(service.services.clock())
    for (const step of [now - 2, now + 2])
      errorOf(await answer({ code: totpCode(secret, step) }), 'unauthorized')
    dataOf(await answer({ code: totpCode(secret, now + 1) }))
    const { answer: later } = await firstStep(client)
    errorOf(await later({ code: totpCode(secret, now) }), 'unauthorized')
  })

  test('is encrypted in the store, and removed with its recovery codes', async () => {
    const client = await join()
    const { secret } = await addTotp(client)
    const stored = await service.services.totp.find(client.member.id)
    assert.ok(stored && !stored.sealedSecret.includes(secret))
    assert.equal(service.services.keyring.openTotpSecret('mem_other', stored.sealedSecret), null)
    dataOf(await client.ask('/account/totp', { method: 'DELETE', body: {} }))
    assert.equal(dataOf(await client.ask('/account/second-factors')).recoveryCodes, 0)
    const browser = visitor(at)
    assert.equal(
      dataOf(await browser.ask('/sign-in', post({ email: client.member.email, password }))).prompt,
      null,
    )
  })
})

describe('a recovery code', () => {
  test('signs in once in place of a lost factor, with any spacing and case', async () => {
    const client = await join()
    const { codes } = await addTotp(client)
    const [code = '', second = ''] = codes
    assert.match(code, /^([0-9a-z]{6}-){3}[0-9a-z]{6}$/)
    const { answer } = await firstStep(client)
    errorOf(await answer({ code: `${code.slice(0, -1)}?` }), 'unauthorized')
    dataOf(await answer({ code: ` ${code.toUpperCase().replaceAll('-', '')}` }))
    const again = await firstStep(client)
    errorOf(await again.answer({ code }), 'unauthorized')
    assert.equal(dataOf(await client.ask('/account/second-factors')).recoveryCodes, 9)
    const { recoveryCodes } = dataOf(await client.ask('/account/recovery-codes', post()))
    errorOf(await again.answer({ code: second }), 'unauthorized')
    dataOf(await again.answer({ code: Array.isArray(recoveryCodes) ? recoveryCodes[0] : '' }))
  })

  test('signs in only one of two browsers that use it at the same time', async () => {
    const client = await join()
    const { codes } = await addTotp(client)
    const steps = [await firstStep(client), await firstStep(client)]
    const answers = await Promise.all(steps.map(({ answer }) => answer({ code: codes[0] })))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401])
  })
})

describe('a passkey', () => {
  test('signs in alone, and is named, used, renamed and removed', async () => {
    const client = await join()
    const { passkey, codes } = await addPasskey(client)
    assert.equal(Array.isArray(codes) && codes.length, 10)
    const browser = visitor(at)
    const asked = dataOf(await browser.ask('/sign-in/passkey/options', post()))
    assert.deepEqual(
      [asked.allowCredentials, asked.rpId, asked.userVerification],
      [[], 'localhost', 'required'],
    )
    const answer = passkey.answer({ challenge: textIn(asked, 'challenge') })
    dataOf(await browser.ask('/sign-in/passkey', post({ passkey: answer })))
    assert.equal(textIn(objectIn(dataOf(await browser.ask('/session')), 'member'), 'id'), client.member.id)
    errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: answer })), 'unauthorized')
    assert.ok((await activityOf(client)).includes('member.signed-in passkey'))

    const path = `/account/passkeys/${passkey.id}`
    const stranger = await join()
    errorOf(await stranger.ask(`${path}/rename`, post({ name: 'Mine' })), 'not_found')
    errorOf(await stranger.ask(path, { method: 'DELETE', body: {} }), 'not_found')
    assert.deepEqual(problemFields(await client.ask(`${path}/rename`, post({ name: ' ' }))), ['name'])
    dataOf(await client.ask(`${path}/rename`, post({ name: 'Key ring' })))
    const [stored] = listIn(dataOf(await client.ask('/account/second-factors')), 'passkeys')
    assert.partialDeepStrictEqual(stored, { name: 'Key ring', id: passkey.id })
    dataOf(await client.ask(path, { method: 'DELETE', body: {} }))
    assert.equal(dataOf(await client.ask('/account/second-factors')).recoveryCodes, 0)
    const next = dataOf(await browser.ask('/sign-in/passkey/options', post()))
    const late = passkey.answer({ challenge: textIn(next, 'challenge') })
    errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: late })), 'unauthorized')
  })

  test('signs in alone while the password is under attack from many addresses', async (t) => {
    const guarded = await startTestService(t, { LETHE_TRUSTED_PROXIES: '127.0.0.1,::1' })
    const here = { ...guarded, url: guarded.url.replace('127.0.0.1', 'localhost') }
    await guarded.createOrganisation('acme')
    const client = await signedIn(here, await addMember(guarded, 'acme'))
    const { passkey } = await addPasskey(client, 'Laptop', {}, here.url)
    const from = (address: number, path: string, body: object) =>
      visitor(here).ask(path, { ...post(body), headers: { 'x-forwarded-for': `198.51.100.${address}` } })
    const guess = { email: client.member.email, password: 'wrong' }
    for (let i = 1; i <= 100; i++) errorOf(await from(i, '/sign-in', guess), 'unauthorized')
    errorOf(await from(101, '/sign-in', { ...guess, password }), 'rate_limited')
    const asked = async () => dataOf(await from(102, '/sign-in/passkey/options', {}))
    const wrong = passkey.answer({ challenge: textIn(await asked(), 'challenge') }, { rpId: 'evil.example' })
    errorOf(await from(102, '/sign-in/passkey', { passkey: wrong }), 'rate_limited')
    const right = passkey.answer({ challenge: textIn(await asked(), 'challenge') })
    dataOf(await from(102, '/sign-in/passkey', { passkey: right }))
  })

  test('ends the previous session of the browser, alone and as a second step', async () => {
    const browser = await join()
    const { passkey } = await addPasskey(browser)
    const ends = async (signIn: () => Promise<unknown>) => {
      const former = copyOf(at, browser)
      await signIn()
      errorOf(await former.ask('/session'), 'unauthorized')
      dataOf(await browser.ask('/session'))
    }
    await ends(async () => {
      const asked = dataOf(await browser.ask('/sign-in/passkey/options', post()))
      const answer = passkey.answer({ challenge: textIn(asked, 'challenge') })
      dataOf(await browser.ask('/sign-in/passkey', post({ passkey: answer })))
    })
    await ends(async () => {
      const { email } = browser.member
      const { prompt } = dataOf(await browser.ask('/sign-in', post({ email, password })))
      dataOf(await browser.ask('/session'))
      const token = textIn(prompt, 'token')
      const challenge = textIn(objectIn(prompt, 'passkey'), 'challenge')
      const answer = passkey.answer({ challenge })
      dataOf(await browser.ask('/sign-in/second-factor', post({ token, passkey: answer })))
    })
    // The attempts count against the address of all tests in this file.
    service.passTime(900_000)
  })

  test('is rejected from another origin, for another host, without user verification, and in a frame', async () => {
    const client = await join()
    const { passkey } = await addPasskey(client)
    const tries = [
      { origin: 'http://localhost:1' },
      { rpId: 'evil.example' },
      { isVerified: false },
      { crossOrigin: true },
      { userHandle: Buffer.from('mem_other').toString('base64url') },
    ]
    for (const wrong of tries) {
      const asked = dataOf(await visitor(at).ask('/sign-in/passkey/options', post()))
      const answer = passkey.answer({ challenge: textIn(asked, 'challenge') }, wrong)
      errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: answer })), 'unauthorized')
    }
    await until(
      async () =>
        (await activityOf(client)).filter((line) => line === 'member.sign-in-failed passkey').length ===
        tries.length,
    )
  })

  test('names its member when it signs in alone, and need not as a second factor', async () => {
    const client = await join()
    const { passkey } = await addPasskey(client)
    const unnamed = (challenge: string) => {
      const { id, response } = passkey.answer({ challenge })
      const { userHandle: _, ...others } = response
      return { id, response: others }
    }
    const asked = dataOf(await visitor(at).ask('/sign-in/passkey/options', post()))
    const answer = unnamed(textIn(asked, 'challenge'))
    errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: answer })), 'unauthorized')
    const second = await firstStep(client)
    const challenge = textIn(objectIn(second.passkey, 'passkey'), 'challenge')
    dataOf(await second.answer({ passkey: unnamed(challenge) }))
  })

  test('must answer a challenge of this service within five minutes', async () => {
    const client = await join()
    const { passkey } = await addPasskey(client)
    const invented = passkey.answer({ challenge: Buffer.from('invented').toString('base64url') })
    errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: invented })), 'unauthorized')
    const asked = dataOf(await visitor(at).ask('/sign-in/passkey/options', post()))
    service.passTime(challengeMs)
    const late = passkey.answer({ challenge: textIn(asked, 'challenge') })
    errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: late })), 'unauthorized')
    const other = dataOf(await visitor(at).ask('/sign-in/passkey/options', post()))
    const handle = { userHandle: Buffer.from(client.member.id).toString('base64url') }
    const elsewhere = softwarePasskey(origin).answer({ challenge: textIn(other, 'challenge') }, handle)
    errorOf(await visitor(at).ask('/sign-in/passkey', post({ passkey: elsewhere })), 'unauthorized')
  })

  test('is rejected and recorded if its counter goes back, because it was copied', async () => {
    const client = await join()
    const { passkey } = await addPasskey(client, 'Copied')
    const signInWith = async (count: number) => {
      const asked = dataOf(await visitor(at).ask('/sign-in/passkey/options', post()))
      const answer = passkey.answer({ challenge: textIn(asked, 'challenge') }, { count })
      return visitor(at).ask('/sign-in/passkey', post({ passkey: answer }))
    }
    dataOf(await signInWith(7))
    for (const count of [7, 3, 0]) errorOf(await signInWith(count), 'unauthorized')
    dataOf(await signInWith(8))
    await until(async () => (await activityOf(client)).includes('member.passkey-refused Copied'))
  })

  test('without a counter can sign in repeatedly', async () => {
    const client = await join()
    const { passkey } = await addPasskey(client, 'Synced', { counts: false })
    for (let i = 0; i < 2; i++) {
      const { answer, passkey: prompt } = await firstStep(client)
      const challenge = textIn(objectIn(prompt, 'passkey'), 'challenge')
      dataOf(await answer({ passkey: passkey.answer({ challenge }) }))
    }
  })

  test('is a second factor of its own member only', async () => {
    const [client, other] = [await join(), await join()]
    await addPasskey(client)
    const { passkey: foreign } = await addPasskey(other)
    const { answer, passkey: prompt, proofs } = await firstStep(client)
    assert.deepEqual(proofs, ['passkey', 'recovery-code'])
    const challenge = textIn(objectIn(prompt, 'passkey'), 'challenge')
    errorOf(await answer({ passkey: foreign.answer({ challenge }) }), 'unauthorized')
    errorOf(await answer({}), 'unauthorized')
  })

  test('is created for the challenge of its own member, once', async () => {
    const [client, other] = [await join(), await join()]
    const asked = dataOf(await client.ask('/account/passkeys/options', post()))
    const options = { challenge: textIn(asked, 'challenge'), user: { id: textIn(asked.user, 'id') } }
    const response = softwarePasskey(origin).register(options)
    const body = { name: 'Stolen', response }
    assert.deepEqual(problemFields(await other.ask('/account/passkeys', post(body))), ['response'])
    dataOf(await client.ask('/account/passkeys', post(body)))
    assert.deepEqual(problemFields(await client.ask('/account/passkeys', post(body))), ['response'])
    const again = dataOf(await client.ask('/account/passkeys/options', post()))
    const wrong = softwarePasskey(origin).register(
      { challenge: textIn(again, 'challenge'), user: { id: textIn(again.user, 'id') } },
      { origin: 'http://evil.example' },
    )
    assert.deepEqual(
      problemFields(await client.ask('/account/passkeys', post({ name: 'x', response: wrong }))),
      ['response'],
    )
  })

  test('needs a console with a host name', async () => {
    const client = await signedIn(service, await addMember(service, organisationId))
    const { message } = errorOf(await client.ask('/account/passkeys/options', post()), 'invalid_request')
    assert.match(String(message), /^Passkeys need a host name/)
  })
})

describe('an organisation that requires a second factor', () => {
  test('lets members without one only add it', async () => {
    const organisation = await service.createOrganisation()
    const [admin, member] = [await join(organisation), await join(organisation)]
    const change = (secondFactor: string) => admin.ask('/sign-in-rules/second-factor', post({ secondFactor }))
    errorOf(await change('required'), 'invalid_request')
    await addTotp(admin)
    errorOf(await change('passkey'), 'invalid_request')
    dataOf(await change('required'))
    assert.equal(dataOf(await admin.ask('/sign-in-rules')).secondFactor, 'required')

    assert.equal(dataOf(await member.ask('/session')).missingFactor, 'second-factor')
    const { message } = errorOf(await member.ask('/keys'), 'forbidden')
    assert.match(String(message), /requires a passkey or an authenticator app/)
    errorOf(await member.ask('/sign-in-rules/second-factor', post({ secondFactor: 'optional' })), 'forbidden')
    await addTotp(member)
    dataOf(await member.ask('/keys'))

    await addPasskey(admin)
    dataOf(await change('passkey'))
    assert.equal(dataOf(await member.ask('/session')).missingFactor, 'passkey')
    errorOf(await member.ask('/keys'), 'forbidden')
    await addPasskey(member)
    dataOf(await member.ask('/keys'))
    const { proofs } = await firstStep(member)
    assert.deepEqual(proofs, ['passkey', 'recovery-code'])
  })

  for (const [what, add] of [
    ['a passkey', addPasskey],
    ['an authenticator app', addTotp],
  ] as const) {
    test(`refuses everything to sessions from before a member added ${what}`, async () => {
      const organisation = await service.createOrganisation()
      const [admin, member] = [await join(organisation), await join(organisation)]
      await addTotp(admin)
      dataOf(await admin.ask('/sign-in-rules/second-factor', post({ secondFactor: 'required' })))
      const other = await signedIn(at, member.member)
      errorOf(await other.ask('/keys'), 'forbidden')
      await add(member)
      errorOf(await other.ask('/keys'), 'unauthorized')
      dataOf(await member.ask('/keys'))
      assert.equal(listIn(dataOf(await member.ask('/account/sign-ins')), 'signIns').length, 1)
    })
  }

  test('accepts no code if a passkey is required', async () => {
    const organisation = await service.createOrganisation()
    const admin = await join(organisation)
    const { secret } = await addTotp(admin)
    await addPasskey(admin)
    dataOf(await admin.ask('/sign-in-rules/second-factor', post({ secondFactor: 'passkey' })))
    const { answer } = await firstStep(admin)
    errorOf(await answer({ code: nextCode(secret) }), 'unauthorized')
  })
})

describe('the second step', () => {
  test('expires after five minutes, and when the password changes', async () => {
    const client = await join()
    const { secret, codes } = await addTotp(client)
    const [expired, outdated] = [await firstStep(client), await firstStep(client)]
    const changed = { currentPassword: password, password: 'entirely different words' }
    dataOf(await client.ask('/account/password', post(changed)))
    errorOf(await outdated.answer({ code: codes[0] }), 'invalid_request')
    service.passTime(challengeMs)
    errorOf(await expired.answer({ code: nextCode(secret) }), 'invalid_request')
  })

  test('is also required after a link for a new password', async () => {
    const client = await join()
    const { secret } = await addTotp(client)
    const { token } = await issueLink(service.services, client.member, commandLine)
    const browser = visitor(at)
    const accept = post({ token, password: 'entirely different words' })
    const { prompt } = dataOf(await browser.ask('/invitation/accept', accept))
    errorOf(await browser.ask('/session'), 'unauthorized')
    const answered = post({ token: textIn(prompt, 'token'), code: nextCode(secret) })
    dataOf(await browser.ask('/sign-in/second-factor', answered))
    dataOf(await browser.ask('/session'))
  })

  test('is limited like password attempts, and locks nobody out', async () => {
    const client = await join()
    const { secret } = await addTotp(client)
    const { answer } = await firstStep(client)
    const statuses = []
    for (let i = 0; i < 10; i++) statuses.push((await answer({ code: '000000' })).status)
    assert.deepEqual(statuses, [...Array(9).fill(401), 429])
    service.passTime(15 * 60_000)
    const { answer: later } = await firstStep(client)
    dataOf(await later({ code: nextCode(secret) }))
  })
})

test('secrets and codes are never logged, in the activity, in later responses or readable in the store', async () => {
  const client = await join()
  const { secret, codes } = await addTotp(client)
  const { answer, token } = await firstStep(client)
  errorOf(await answer({ code: codes[1]?.slice(1) ?? '' }), 'unauthorized')
  dataOf(await answer({ code: codes[0] ?? '' }))
  await until(async () => (await activityOf(client)).includes('member.sign-in-failed recovery code'))
  const query = { limit: 50, after: null, requestId: null }
  const { rows } = await service.services.activity.list(organisationId, query)
  const later = dataOf(await client.ask('/account/second-factors'))
  const told = [...service.logged, JSON.stringify(rows), JSON.stringify(later)].join('\n')
  for (const each of [secret, token, ...codes]) assert.ok(!told.includes(each), each)
  const { transfer } = service.services
  const table = transfer.tables.find(({ name }) => name === 'recovery_codes')
  assert.ok(table)
  const stored = JSON.stringify(await transfer.read(table, null, 10_000))
  assert.ok(stored.includes(client.member.id))
  for (const code of codes)
    for (const form of [code, code.replaceAll('-', '')]) assert.ok(!stored.includes(form), form)
})
