import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { recentSignInMs } from '../../src/domain/sign-in.ts'
import { challengeMs } from '../../src/domain/sign-in-challenge.ts'
import { consoleRoutes } from '../../src/http/console/routes.ts'
import { dataOf, errorOf, problemFields, textIn } from '../support/answers.ts'
import {
  addMember,
  type ConsoleClient,
  openConsole,
  password,
  signedIn,
  signInToken,
  visitor,
} from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

after(scryptOnce(16))
const service = await startTestService({ after })
const organisationId = await service.createOrganisation('acme')
const post = (body: object = {}) => ({ method: 'POST', body })

/** A browser whose member confirmed their identity this long ago, or with a wrong clock. */
async function verifiedAgo(ms: number): Promise<ConsoleClient> {
  const client = await openConsole(service, organisationId)
  const verifiedAt = service.services.clock() - ms
  client.cookie = `lethe-console=${await signInToken(service, client.member, { verifiedAt })}`
  return client
}

async function ask(client: Pick<ConsoleClient, 'ask'>) {
  const prompt = dataOf(await client.ask('/verification/options', post()))
  return {
    proofs: prompt.proofs,
    answer: (answer: object) =>
      client.ask('/verification', post({ token: textIn(prompt, 'token'), ...answer })),
  }
}

async function kindsOf({ member }: ConsoleClient): Promise<string[]> {
  const query = { limit: 50, after: null, requestId: null, actor: member.id }
  const { rows } = await service.services.activity.list(member.organisationId, query)
  return rows.map(({ kind, target }) => `${kind} ${target}`)
}

const challenge = 'Bearer error="insufficient_user_authentication", max_age="600"'

describe('a route that needs a recent sign-in', () => {
  const routes = consoleRoutes.filter(({ recentSignIn }) => recentSignIn)

  test('is one that erases, exports, or changes credentials, members or rules', () => {
    const paths = routes.map(({ method, path }) => `${method} ${path.replace('/console/api', '')}`)
    for (const path of [
      ...['POST /requests/{requestId}/erase', 'POST /erasure-lists'],
      ...['GET /trackers/{trackerId}/subjects/{subjectId}/export', 'GET /requests/{requestId}/export'],
      ...[
        'POST /trackers/{trackerId}/delete',
        'POST /keys',
        'POST /keys/{keyId}/rotate',
        'POST /keys/{keyId}/revoke',
      ],
      ...['POST /trackers/{trackerId}/variable-tokens', 'POST /variable-tokens/{tokenId}/rotate'],
      ...['POST /members', 'DELETE /members/{memberId}', 'POST /members/{memberId}/remove-factors'],
      ...['POST /members/{memberId}/link', 'POST /members/{memberId}/role'],
      ...['POST /sign-in-rules/second-factor', 'POST /account/password', 'POST /account/passkeys'],
      ...['DELETE /account/passkeys/{passkeyId}', 'POST /account/totp', 'DELETE /account/totp'],
      'POST /account/recovery-codes',
    ]) {
      assert.ok(paths.includes(path), path)
    }
  })

  test('requires confirmation after ten minutes, or after a clock that was ahead, before it reads anything', async () => {
    for (const ago of [recentSignInMs + 1_000, -60_000]) {
      const client = await verifiedAgo(ago)
      for (const { method, path } of routes) {
        const named = path.replace('/console/api', '').replaceAll(/\{\w+\}/g, 'x')
        const answer = await client.ask(named, { method, ...(method !== 'GET' && { body: {} }) })
        assert.match(String(errorOf(answer, 'unauthorized').message), /^Confirm that it is you/, named)
        assert.equal(answer.headers.get('www-authenticate'), challenge)
      }
      const read = await client.ask('/keys')
      assert.equal(read.status, 200)
    }
    dataOf(await (await verifiedAgo(recentSignInMs - 30_000)).ask('/verification'))
  })
})

describe('a member who confirms their identity', () => {
  test('gets a new session, and the previous one becomes invalid', async () => {
    const client = await verifiedAgo(recentSignInMs + 1_000)
    const stolen = { ...visitor(service), cookie: client.cookie }
    const { proofs, answer } = await ask(client)
    assert.deepEqual(proofs, ['password'])
    dataOf(await answer({ password }))
    dataOf(await client.ask('/verification'))
    const thief = Object.assign(visitor(service), { cookie: stolen.cookie })
    errorOf(await thief.ask('/session'), 'unauthorized')
    dataOf(await client.ask('/members', post({ email: 'new@acme.example' })))
    assert.ok((await kindsOf(client)).includes('member.verified password'))
  })

  test('is refused with a wrong password, which is recorded, and for a while after ten attempts', async () => {
    const client = await verifiedAgo(recentSignInMs + 1_000)
    const { answer } = await ask(client)
    assert.deepEqual(problemFields(await answer({ password: 'wrong' })), ['password'])
    assert.deepEqual(problemFields(await answer({})), ['password'])
    await until(async () => (await kindsOf(client)).includes('member.verification-failed password'))
    const statuses = []
    for (let i = 0; i < 9; i++) statuses.push((await answer({ password: 'wrong' })).status)
    assert.deepEqual(statuses, [...Array(8).fill(422), 429])
    dataOf(await client.ask('/session'))
  })

  test('can use each challenge once, within five minutes', async () => {
    const [client, other] = [await verifiedAgo(0), await verifiedAgo(0)]
    const prompt = dataOf(await client.ask('/verification/options', post()))
    const answered = post({ token: prompt.token, password })
    errorOf(await other.ask('/verification', answered), 'invalid_request')
    dataOf(await client.ask('/verification', answered))
    errorOf(await client.ask('/verification', answered), 'invalid_request')
    const { answer } = await ask(client)
    service.passTime(challengeMs)
    errorOf(await answer({ password }), 'invalid_request')
  })
})

describe('a stolen session', () => {
  test('cannot be planted before the sign-in', async () => {
    const member = await addMember(service, organisationId)
    const planted = 'lethe-console=0000000000000000000000000000000000000000000'
    const browser = Object.assign(visitor(service), { cookie: planted })
    dataOf(await browser.ask('/sign-in', post({ email: member.email, password })))
    assert.notEqual(browser.cookie, planted)
    errorOf(await Object.assign(visitor(service), { cookie: planted }).ask('/session'), 'unauthorized')
  })

  test('ends with all others when the password changes, except in the browser that changed it', async () => {
    const client = await openConsole(service, organisationId)
    const [other, before] = [await signedIn(service, client.member), client.cookie]
    const change = (body: object) => client.ask('/account/password', post(body))
    const changed = { currentPassword: password, password: 'entirely different words' }
    assert.deepEqual(problemFields(await change({ ...changed, currentPassword: 'wrong' })), [
      'currentPassword',
    ])
    for (const guessable of ['qwertyqwerty', 'acmeacmeacme', '123456789012', client.member.email])
      assert.deepEqual(
        problemFields(await change({ ...changed, password: guessable })),
        ['password'],
        guessable,
      )
    dataOf(await other.ask('/session'))
    dataOf(await change(changed))
    dataOf(await client.ask('/session'))
    errorOf(await other.ask('/session'), 'unauthorized')
    errorOf(await Object.assign(visitor(service), { cookie: before }).ask('/session'), 'unauthorized')
    const signIn = (password: string) =>
      visitor(service).ask('/sign-in', post({ email: client.member.email, password }))
    errorOf(await signIn(password), 'unauthorized')
    dataOf(await signIn(changed.password))
    assert.ok((await kindsOf(client)).includes('member.password-changed null'))
  })
})

describe('an admin', () => {
  test("removes the second factors of a member who lost them, and ends the member's sessions", async () => {
    const [admin, member] = [
      await openConsole(service, organisationId),
      await openConsole(service, organisationId),
    ]
    const { totp, recoveryCodes, keyring, randomness, clock } = service.services
    const now = clock()
    const tokenHash = 'offer'
    const offer = { tokenHash, kind: 'totp-registration', memberId: member.member.id, data: '' } as const
    await service.services.signInChallenges.create({ ...offer, createdAt: now, expiresAt: now + 1_000 })
    const sealedSecret = keyring.sealTotpSecret(member.member.id, randomness.base62(32))
    const set = { sealedSecret, setAt: now, lastStep: 0 }
    const note = { id: randomness.uuid(), organisationId, at: now, actor: { kind: 'command-line' } } as const
    const what = { kind: 'member.totp-set', target: null, requestId: null } as const
    const by = { tokenHash: 'none', challengeHash: tokenHash, recoveryHashes: ['a', 'b'] }
    assert.ok(await totp.set(member.member.id, set, by, { ...note, ...what }))
    dataOf(await admin.ask(`/members/${member.member.id}/remove-factors`, post()))
    assert.equal(await totp.find(member.member.id), null)
    assert.equal(await recoveryCodes.count(member.member.id), 0)
    errorOf(await member.ask('/session'), 'unauthorized')
    assert.ok((await kindsOf(admin)).includes(`member.factors-removed ${member.member.email}`))
  })
})
