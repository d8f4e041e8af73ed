import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole, password, visitor } from '../support/console.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const organisationId = await service.createOrganisation('acme')
const client = await openConsole(service, organisationId, 'ada@acme.example')

const invite = (email: string) => client.ask('/members', { method: 'POST', body: { email } })
const remove = (id: string) => client.ask(`/members/${id}`, { method: 'DELETE' })

describe('members in the console', () => {
  test('the last one cannot be removed', async () => {
    errorOf(await remove(client.member.id), 'invalid_request')
    dataOf(await client.ask('/session'))
  })

  test('are invited with a link, join with it, and are removed, signed out immediately', async () => {
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

  test('who have not joined get a new link, and the old one becomes invalid', async () => {
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
