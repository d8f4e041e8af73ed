import assert from 'node:assert/strict'
import { after, describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { recentSignInMs } from '../../src/domain/sign-in.ts'
import { dataOf, errorOf } from '../support/answers.ts'
import { addMember, type ConsoleClient, note, openConsole, rawPost } from '../support/console.ts'
import type { Answer } from '../support/documented.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startTestService({ after })
const { members, signIns, signInRules, activity, apiKeys } = service.services

/** Sends a request except for the last byte of its body, which follows `meanwhile`. */
async function askSlowly(
  t: TestContext,
  client: ConsoleClient,
  path: string,
  body: object,
  meanwhile: () => unknown,
): Promise<Answer> {
  const find = t.mock.method(signIns, 'find')
  const request = await rawPost(service, client, path, body, { end: -1 })
  t.after(() => request.hangUp())
  await until(() => find.mock.callCount() > 0)
  await Promise.all(find.mock.calls.map(({ result }) => result))
  await setImmediate()
  await meanwhile()
  request.sendRest()
  return request.answer('POST')
}

/** What can happen to an admin during a request, and the resulting error. */
const cases: [what: string, code: 'unauthorized' | 'forbidden', happen: (of: ConsoleClient) => unknown][] = [
  [
    'was removed',
    'unauthorized',
    ({ member: { organisationId, id } }) =>
      members.remove(organisationId, id, note(service, organisationId, 'member.removed')),
  ],
  [
    'was signed out',
    'unauthorized',
    ({ member: { organisationId, id } }) =>
      signIns.endAll(id, note(service, organisationId, 'member.signed-out-everywhere')),
  ],
  [
    'was demoted',
    'forbidden',
    ({ member: { organisationId, id } }) => {
      const change = { from: 'admin', to: 'desk' } as const
      const noted = note(service, organisationId, 'member.role-changed')
      return members.setRole({ organisationId, id }, change, noted)
    },
  ],
  [
    'lacks a second factor that is required now',
    'forbidden',
    ({ member: { organisationId } }) => {
      const noted = note(service, organisationId, 'sign-in-rules.changed')
      return signInRules.change(organisationId, { secondFactor: 'required' }, noted)
    },
  ],
  [
    'has no recent proof of identity any more',
    'unauthorized',
    () => service.passTime(recentSignInMs + 1_000),
  ],
]

describe('a request whose body arrives slowly', () => {
  for (const [what, code, happen] of cases) {
    test(`is refused if its sender ${what}`, async (t) => {
      const organisationId = await service.createOrganisation()
      await addMember(service, organisationId)
      const guest = await addMember(service, organisationId, undefined, 'viewer')
      for (const [path, body] of [
        ['/members', { email: 'thief@acme.example', role: 'admin' }],
        [`/members/${guest.id}/link`, {}],
        ['/keys', { name: 'thief', scopes: ['analytics:view'] }],
      ] as const) {
        const client = await openConsole(service, organisationId)
        errorOf(await askSlowly(t, client, path, body, () => happen(client)), code)
        t.mock.restoreAll()
      }
      assert.equal(await members.findByEmail('thief@acme.example', organisationId), null)
      assert.deepEqual(await apiKeys.list(organisationId), [])
      const { rows } = await activity.list(organisationId, { limit: 50, after: null, requestId: null })
      const made = ['member.invited', 'member.link-created', 'key.created']
      assert.deepEqual(
        rows.filter(({ actor, kind }) => actor.kind === 'member' && made.includes(kind)),
        [],
      )
    })
  }

  test('succeeds otherwise', async (t) => {
    const client = await openConsole(service, await service.createOrganisation())
    const body = { email: 'guest@acme.example', role: 'viewer' }
    dataOf(await askSlowly(t, client, '/members', body, () => {}))
  })
})
