import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { inviteMember } from '../../src/operations/member.ts'
import { dataOf, objectIn, textIn } from '../support/answers.ts'
import { addMember, openConsole, password, visitor } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { organisationId, logged } = shop

test('no line of the log contains a cookie, a token, a password, an address, a data subject’s ID, a key or a variable token', async () => {
  const email = 'marked@acme.example'
  await addMember(shop, organisationId, email)
  await shop.ingest(visit('subject-marker'))
  const { token } = await inviteMember(
    shop.services,
    { organisationId, email: 'linked@acme.example' },
    commandLine,
  )
  const browser = visitor(shop)
  const person = {
    identifiers: [{ name: 'email', value: 'marked@acme.example' }],
    subjects: [{ trackerId: 'shop', subjectId: 'subject-marker' }],
  }
  const asked: [path: string, body?: object][] = [
    ['/invitation', { token }],
    ['/sign-in', { email, password: 'wrong password' }],
    ['/sign-in', { email, password }],
    ['/session'],
    ['/trackers/shop/subjects/subject-marker'],
    ['/trackers/shop/subjects/subject-marker/export'],
    ['/trackers/shop/subjects?subjectIdPrefix=subject-marker'],
    ['/find', { text: 'marked@acme.example' }],
    ['/find', { text: 'subject-marker', limit: 'marked' }],
    ['/trackers/shop/subjects/subject-marker/days'],
    ['/person', { person }],
    ['/person', { address: 'marked-address' }],
    ['/person/timeline', { records: person.subjects }],
    ['/requests', { kind: 'erasure', person }],
    ['/erasures/certificate?index=0'],
    ['/erasures/receipt', { index: 0, subjectId: 'subject-marker' }],
    ['/members', { email: 'marked-too@acme.example' }],
    ['/activity?requestId=request-marker'],
    ['/sign-in', { email: 'marked@acme.example', password: 7 }],
    ['/requests', { kind: 'erasure', person: { ...person, identifiers: 'marked' } }],
  ]
  const before = logged.length
  for (const [path, body] of asked) await browser.ask(path, body && { method: 'POST', body })
  const created = dataOf(
    await browser.ask('/keys', { method: 'POST', body: { name: 'k', scopes: ['analytics:view'] } }),
  )
  const key = textIn(created, 'keyString')
  await browser.ask(`/keys/${textIn(objectIn(created, 'key'), 'id')}/revoke`, {
    method: 'POST',
    body: { name: key },
  })
  const issued = dataOf(
    await browser.ask('/trackers/shop/variable-tokens', { method: 'POST', body: { name: 't' } }),
  )
  const variableToken = textIn(issued, 'tokenString')
  await browser.ask(`/variable-tokens/${textIn(objectIn(issued, 'token'), 'id')}/revoke`, {
    method: 'POST',
    body: { name: variableToken },
  })
  const { cookie } = browser
  await browser.ask('/sign-out', { method: 'POST', body: {} })
  await until(() => logged.length >= before + asked.length + 5)
  const text = logged.join('\n')
  for (const secret of [
    token,
    password,
    'wrong password',
    cookie?.split('=')[1] ?? '',
    'marked',
    'subject-marker',
    key.slice(23),
    variableToken.slice(26),
  ]) {
    assert.ok(secret.length > 5)
    assert.equal(text.includes(secret), false, secret.slice(0, 6))
  }
  assert.match(text, /"route":"\/console\/api\/requests","status":200/)
})

test('neither the log nor the activity contains a client’s request ID in a request about a person', async () => {
  const member = await openConsole(shop, organisationId)
  await shop.ingest([...visit('marker-two'), ...visit('marker-three')])
  const encoded = Buffer.from('marker-two').toString('base64')
  const digits = Buffer.from('marker-two').toString('hex')
  const list = { text: 'marker-two', format: 'lines', by: 'subjectId', trackerIds: [], reference: 'List' }
  const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: 'marker-three' }] }
  const before = logged.length
  let asked = 0
  for (const id of [
    'marker-two',
    'marker-three',
    encoded,
    digits,
    'new@marker.example',
    'eve@marker.example',
  ]) {
    for (const [path, body] of [
      ['/find', { text: 'marker-two' }],
      ['/erasure-lists/preview', list],
      ['/erasure-lists', { ...list, subjects: 1 }],
      ['/person', { person }],
      ['/person', { address: 'marked-address' }],
      ['/person/timeline', { records: person.subjects }],
      ['/requests', { kind: 'erasure', person }],
      ['/erasures/receipt', { index: 0, subjectId: 'marker-two' }],
      ['/members', { email: `new-${asked}@marker.example` }],
      ['/sign-in', { email: 'eve@marker.example', password: 'x' }],
    ] as const) {
      // Verifying a password is slow.
      if (path === '/sign-in' && !id.startsWith('eve')) continue
      asked += 1
      const answer = await member.ask(path, { method: 'POST', body, headers: { 'x-request-id': id } })
      assert.equal(answer.headers.get('x-request-id'), id, path)
    }
  }
  await until(() => logged.slice(before).filter((line) => line.includes('"msg":"request"')).length >= asked)
  const activity = JSON.stringify(dataOf(await member.ask('/activity?limit=200')))
  const group = JSON.stringify(dataOf(await member.ask('/request-groups?reference=List')))
  for (const secret of ['marker-two', 'marker-three', encoded.replaceAll('=', ''), digits])
    for (const text of [logged.join('\n'), activity, group])
      assert.equal(text.includes(secret), false, secret)
  assert.doesNotMatch(logged.join('\n'), /marker\.example/)
  assert.doesNotMatch(activity, /"requestId":"[^"]*marker/)
})

test('a line has the ID of the member who sent the request', async () => {
  const client = await openConsole(shop, organisationId)
  const before = logged.length
  await client.ask('/keys', { headers: { 'x-request-id': 'mine' } })
  await until(() => logged.length > before)
  assert.partialDeepStrictEqual(JSON.parse(logged[before] ?? ''), {
    ...{
      requestId: 'mine',
      route: '/console/api/keys',
      status: 200,
      keyId: null,
      memberId: client.member.id,
    },
  })
})
