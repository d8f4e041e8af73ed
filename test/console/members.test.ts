import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { addMember, openConsole, password, signedIn, visitor } from '../support/console.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const organisationId = await service.createOrganisation('acme')
const client = await openConsole(service, organisationId, 'ada@acme.example')

const invite = (email: string, role?: string) =>
  client.ask('/members', { method: 'POST', body: { email, role } })
const setRole = (id: string, role: string) =>
  client.ask(`/members/${id}/role`, { method: 'POST', body: { role } })
const remove = (id: string) => client.ask(`/members/${id}`, { method: 'DELETE' })

describe('members in the console', () => {
  test('cannot remove or demote the last admin', async () => {
    errorOf(await remove(client.member.id), 'invalid_request')
    errorOf(await setRole(client.member.id, 'desk'), 'invalid_request')
    dataOf(await client.ask('/session'))
  })

  test('are invited with a link, join with it, and are signed out immediately when removed', async () => {
    const invited = dataOf(await invite(' Ben@Acme.example'))
    assert.partialDeepStrictEqual(invited.member, { email: 'ben@acme.example', joinedAt: null })
    const browser = visitor(service)
    dataOf(
      await browser.ask('/invitation/accept', {
        method: 'POST',
        body: { token: textIn(invited, 'token'), password },
      }),
    )
    dataOf(await browser.ask('/session'))
    const members = listIn(dataOf(await client.ask('/members')), 'members')
    assert.deepEqual(
      members.map((member) => textIn(member, 'email')),
      ['ada@acme.example', 'ben@acme.example'],
    )
    assert.equal(JSON.stringify(members).includes('scrypt'), false)
    dataOf(await remove(textIn(invited.member, 'id')))
    errorOf(await browser.ask('/session'), 'unauthorized')
    errorOf(await remove(textIn(invited.member, 'id')), 'not_found')
  })

  test('who have not joined get a new link, which invalidates the old one', async () => {
    const [first, second] = [
      dataOf(await invite('cleo@acme.example')),
      dataOf(await invite('cleo@acme.example')),
    ]
    assert.equal(textIn(objectIn(first, 'member'), 'id'), textIn(objectIn(second, 'member'), 'id'))
    const look = (data: Record<string, unknown>) =>
      visitor(service).ask('/invitation', { method: 'POST', body: { token: textIn(data, 'token') } })
    errorOf(await look(first), 'not_found')
    dataOf(await look(second))
  })

  test('who have joined cannot be invited again, nor can an invalid address', async () => {
    assert.deepEqual(problemFields(await invite('ADA@acme.example')), ['email'])
    for (const email of ['nobody', '@', 'a@', 'a b@c', 'a@b@c', `${'x'.repeat(250)}@y.example`]) {
      assert.deepEqual(problemFields(await invite(email)), ['email'], email)
    }
  })
})

describe('the role of a member', () => {
  test('is the one of the invitation, viewer by default, and cannot be changed by another invitation', async () => {
    assert.partialDeepStrictEqual(dataOf(await invite('least@acme.example')).member, { role: 'viewer' })
    assert.partialDeepStrictEqual(dataOf(await invite('desk@acme.example', 'desk')).member, { role: 'desk' })
    assert.deepEqual(problemFields(await invite('desk@acme.example', 'admin')), ['role'])
    assert.deepEqual(problemFields(await invite('new@acme.example', 'owner')), ['role'])
    assert.partialDeepStrictEqual(dataOf(await invite('desk@acme.example')).member, { role: 'desk' })
  })

  test('takes effect with the next request of each session, and is in the activity', async () => {
    const member = await addMember(service, organisationId, 'dora@acme.example', 'viewer')
    const browsers = [await signedIn(service, member), await signedIn(service, member)]
    const rename = (i: number) =>
      browsers[i]?.ask('/organisation/rename', { method: 'POST', body: { name: 'acme' } })
    const isAdmin = async () => Promise.all([0, 1].map(async (i) => (await rename(i))?.status === 200))
    assert.deepEqual(await isAdmin(), [false, false])
    assert.partialDeepStrictEqual(dataOf(await setRole(member.id, 'admin')), { role: 'admin' })
    assert.deepEqual(await isAdmin(), [true, true])
    for (const browser of browsers)
      assert.partialDeepStrictEqual(dataOf(await browser.ask('/session')).member, { role: 'admin' })
    dataOf(await setRole(member.id, 'desk'))
    dataOf(await setRole(member.id, 'desk'))
    assert.deepEqual(await isAdmin(), [false, false])
    const entries = listIn(dataOf(await client.ask('/activity?kind=member.role-changed')), 'entries')
    assert.deepEqual(
      entries.map((entry) => textIn(entry, 'target')),
      ['dora@acme.example: admin → desk', 'dora@acme.example: viewer → admin'],
    )
  })
})

describe('a link for a new password', () => {
  test('is created by an admin, ends all sessions when used, and is in the activity', async () => {
    const member = await addMember(service, organisationId, 'emil@acme.example', 'desk')
    const old = await signedIn(service, member)
    const path = `/members/${member.id}/link`
    errorOf(await old.ask(path, { method: 'POST', body: {} }), 'forbidden')
    const link = dataOf(await client.ask(path, { method: 'POST', body: {} }))
    assert.partialDeepStrictEqual(link.member, { email: member.email, role: 'desk' })
    dataOf(await old.ask('/session'))
    const browser = visitor(service)
    const body = { token: textIn(link, 'token'), password: 'an entirely new one' }
    dataOf(await browser.ask('/invitation/accept', { method: 'POST', body }))
    errorOf(await old.ask('/session'), 'unauthorized')
    assert.partialDeepStrictEqual(dataOf(await browser.ask('/session')).member, { role: 'desk' })
    const entries = listIn(dataOf(await client.ask('/activity?kind=member.link-created')), 'entries')
    assert.deepEqual(
      entries.map((entry) => textIn(entry, 'target')),
      ['emil@acme.example'],
    )
  })
})
