import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { commandLine, type Origin } from '../../src/domain/activity.ts'
import { hashPassword, isPassword, type Passwords } from '../../src/domain/password.ts'
import { failure as answerFailure } from '../../src/http/response.ts'
import { createKey, revokeKey, rotateKey } from '../../src/operations/api-key.ts'
import { acceptInvitation, inviteMember, removeMember, requireInvited } from '../../src/operations/member.ts'
import { authenticateMember, passwordQueue, signIn } from '../../src/operations/sign-in.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { until } from '../support/until.ts'
import { type Deps, failure, openDeps } from './fixture.ts'

const { deps: store, passTime, fresh } = openDeps()
const password = 'correct horse battery'

after(scryptOnce())

/** Readable hashes, and a count of the attempts. */
function plainPasswords(): Passwords & { tries: number } {
  const plain = {
    tries: 0,
    hash: async (password: string) => `plain ${password}`,
    async matches(password: string, hash: string | null) {
      plain.tries += 1
      return hash === `plain ${password}`
    },
  }
  return plain
}

const countGuess = async () => {}
const source = {
  requestId: 'r',
  device: 'Firefox on Linux',
  address: '192.0.2.1',
  relyingParty: null,
  replaces: null,
}

async function addOrganisation(deps: Deps): Promise<string> {
  const id = fresh('organisation')
  await deps.organisations.create({ id, name: 'Acme', plan: 'free', createdAt: deps.clock() })
  return id
}

describe('a member', () => {
  it('is invited, sets a password, signs in, and is identified by the token only', async () => {
    const deps = { ...store(), passwords: plainPasswords(), hasProvider: false, countGuess }
    const organisationId = await addOrganisation(deps)
    const { token, member } = await inviteMember(
      deps,
      { organisationId, email: 'Ada@Acme.example' },
      commandLine,
    )
    assert.equal((await requireInvited(deps, token)).id, member.id)
    await failure('validation_error', acceptInvitation(deps, { token, password: 'short' }, source))
    const { browser: first } = await acceptInvitation(deps, { token, password }, source)
    await failure('not_found', acceptInvitation(deps, { token, password }, source))
    const credentials = { email: 'ada@acme.example', password, organisationId: null, browserMark: null }
    const { browser: second } = await signIn(deps, credentials, source)
    assert.ok(first && second)
    for (const each of [first, second])
      assert.equal((await authenticateMember(deps, each.token))?.member.id, member.id)
    assert.equal(await authenticateMember(deps, 'another'), null)
    for (const secret of [token, first.token, second.token]) {
      assert.equal(await deps.signIns.find(secret), null, 'the store knows hashes only')
    }
  })

  it('costs the same to refuse and counts as an attempt, whether it exists and has a password or not', async () => {
    const passwords = plainPasswords()
    let guesses = 0
    const deps = { ...store(), passwords, hasProvider: false, countGuess: async () => void guesses++ }
    const organisationId = await addOrganisation(deps)
    await inviteMember(deps, { organisationId, email: 'invited@acme.example' }, commandLine)
    for (const email of ['nobody@acme.example', 'invited@acme.example']) {
      const before = passwords.tries
      const { message } = await failure(
        'unauthorized',
        signIn(deps, { email, password, organisationId: null, browserMark: null }, source),
      )
      assert.equal(message, 'The e-mail address or the password is incorrect.')
      assert.equal(passwords.tries, before + 1)
    }
    assert.equal(guesses, 2)
  })

  it('has its last activity updated once a minute, so that reads cause few writes', async () => {
    const deps = { ...store(), passwords: plainPasswords() }
    const organisationId = await addOrganisation(deps)
    const { token } = await inviteMember(deps, { organisationId, email: 'a@b' }, commandLine)
    const { browser } = await acceptInvitation(deps, { token, password }, source)
    assert.ok(browser)
    const seenAt = async () => (await authenticateMember(deps, browser.token))?.signIn.lastSeenAt
    const start = await seenAt()
    passTime(59_000)
    await seenAt()
    assert.equal(await seenAt(), start)
    passTime(1_000)
    await seenAt()
    await until(async () => (await seenAt()) === deps.clock())
  })

  it('cannot be invited to an unknown organisation, nor removed as the last one', async () => {
    const deps = store()
    const organisationId = await addOrganisation(deps)
    await failure('not_found', inviteMember(deps, { organisationId: 'nobody', email: 'a@b' }, commandLine))
    const { member } = await inviteMember(deps, { organisationId, email: 'a@b' }, commandLine)
    await failure('invalid_request', removeMember(deps, { organisationId, memberId: member.id }, commandLine))
    await failure('not_found', removeMember(deps, { organisationId, memberId: 'nobody' }, commandLine))
  })
})

describe('a caller within one organisation', () => {
  it('cannot find a key of another', async () => {
    const deps = store()
    const [mine, theirs] = [await addOrganisation(deps), await addOrganisation(deps)]
    const { key } = await createKey(deps, {
      ...{ organisationId: theirs, name: 'k', scopes: ['analytics:view'], expiresAt: null },
    })
    const origin: Origin = { ...commandLine, organisationId: mine }
    await failure('not_found', rotateKey(deps, key.id, origin))
    await failure('not_found', revokeKey(deps, key.id, 'k', origin))
    assert.deepEqual(await deps.apiKeys.find(key.id), key)
  })
})

describe('passwords', () => {
  const chance = { uuid: () => '', base62: (length: number) => 's'.repeat(length) }

  it('are stored as a hash with its parameters, which they match', async () => {
    const hash = await hashPassword(password, chance)
    assert.match(hash, /^scrypt\$15\$8\$3\$s{22}\$[\w-]{43}$/)
    assert.equal(await isPassword(password, hash), true)
    assert.equal(await isPassword(password, null), false)
  })

  it('match in any Unicode normalization, and not with an additional space', async () => {
    const key = scryptSync('caf\u00e9 \u00e9', 'salt', 32, { N: 16, r: 8, p: 1 })
    const cheap = `scrypt$4$8$1$salt$${key.toString('base64url')}`
    assert.equal(await isPassword('cafe\u0301 e\u0301', cheap), true)
    assert.equal(await isPassword('caf\u00e9 \u00e9', cheap), true)
    assert.equal(await isPassword('caf\u00e9 \u00e9 ', cheap), false)
  })

  it('are hashed up to a limit of concurrency, and rejected beyond a queue', async () => {
    const queue = passwordQueue(chance, { concurrency: 1, waiting: 1 })
    const cheap = 'scrypt$4$8$1$salt$AAAA'
    const [first, second] = [queue.matches('a', cheap), queue.matches('b', cheap)]
    await failure('rate_limited', queue.matches('c', cheap))
    assert.deepEqual(await Promise.all([first, second]), [false, false])
    assert.equal(await queue.matches('d', cheap), false)
  })

  it('return a Retry-After for the queue, not for a budget', async () => {
    let now = 0
    const queue = passwordQueue(chance, { concurrency: 2, waiting: 6, now: () => (now += 900) })
    const cheap = 'scrypt$4$8$1$salt$AAAA'
    // Each hash takes 0.9 s by this clock.
    await queue.matches('a', cheap)
    const all = Array.from({ length: 8 }, () => queue.matches('b', cheap))
    const error: unknown = await queue.matches('c', cheap).catch((thrown: unknown) => thrown)
    const budget = {
      granted: true,
      limit: 30,
      remaining: 29,
      resetsAt: 900_000,
      countedAt: 0,
      isStandIn: false,
    }
    const { headers } = answerFailure(error, {
      ...{ requestId: 'r', now, budget, counted: [], hasCredential: false },
    })
    assert.equal(headers[headers.indexOf('Retry-After') + 1], 3)
    await Promise.all(all)
  })
})
