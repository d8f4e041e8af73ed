import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, problemFields, textIn } from '../support/answers.ts'
import { askRaw } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key, url } = shop
const eraser = (await shop.createKey(shop.organisationId, ['analytics:delete-data'])).keyString
await shop.ingest(['anna', 'berta', 'clara'].flatMap((subjectId) => visit(subjectId, { events: 3 })))

const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'

describe('an ID', () => {
  const odd: [what: string, id: string][] = [
    ['slashes', 'a/b//c/'],
    ['dots', 'a.b..c.'],
    ['three dots', '...'],
    ['dots and a slash', '../../etc'],
    ['spaces', ' a  b '],
    ['a plus', 'a+b'],
    ['an emoji', 'visitor-\u{1f600}'],
    ['a family of emoji', family],
    ['quotes', `"a" 'b' \`c\``],
    ['text that looks encoded', 'a%25b%2Fc%00'],
    ['a lone percent sign', '100%'],
    ['delimiters', '?a=b&c#d;e:f@g,h!$*()[]{}|\\^~'],
    ['angle brackets', '<script>'],
    ['SQL and LIKE syntax', "'; DROP TABLE subjects; -- %_"],
    ['accents, composed', 'caf\u00e9'],
    ['accents, decomposed', 'cafe\u0301'],
    ['a line separator and a byte order mark', 'a\u2028b\ufeff'],
    ['characters beyond the basic plane and at its end', '\u{10ffff}\ufffd\ue000'],
    ['256 characters', 'x'.repeat(256)],
    ['256 emoji', '\u{1f600}'.repeat(256)],
    ['a property name of JavaScript', '__proto__'],
    ['a path segment of a route', 'sessions'],
    ['a colon in front', ':subjectId'],
  ]
  for (const [what, id] of odd) {
    test(`of a subject may contain ${what}`, async () => {
      await shop.ingest(visit(id))
      const path = subjectPath(id)
      assert.equal(dataOf(await shop.ask(path, { key })).subjectId, id)
      const prefix = new URLSearchParams({ subjectIdPrefix: id })
      const [found] = listIn(dataOf(await shop.ask(`${subjectsPath}?${prefix}`, { key })), 'subjects')
      assert.equal(textIn(found, 'subjectId'), id)
      assert.equal(listIn(dataOf(await shop.ask(`${path}/sessions`, { key })), 'sessions').length, 1)
      assert.equal(listIn(dataOf(await shop.ask(`${path}/events`, { key })), 'events').length, 1)
      const erasure = dataOf(await shop.ask(path, { key: eraser, method: 'DELETE' }))
      assert.equal(erasure.subjectId, id)
      assert.equal(erasure.alreadyErased, false)
      errorOf(await shop.ask(path, { key }), 'not_found')
    })

    test(`of a tracker may contain ${what}`, async () => {
      await shop.createTracker(shop.organisationId, id).catch((error) => {
        // Only the maximum length of names is shorter than that of IDs.
        assert.match(String(error), /name/)
        return shop.services.trackers.create({
          id,
          organisationId: shop.organisationId,
          name: 'odd',
          createdAt: Date.now(),
        })
      })
      await shop.ingest(visit('anna', { trackerId: id }))
      const record = dataOf(await shop.ask(subjectPath('anna', id), { key }))
      assert.equal(record.trackerId, id)
    })
  }

  test('is percent-decoded once, with digits in either case', async () => {
    await shop.ingest([...visit('a%2Fb'), ...visit('a%252Fb'), ...visit('a/b')])
    for (const [segment, id] of [
      ['a%2fb', 'a/b'],
      ['a%2Fb', 'a/b'],
      ['%61%2Fb', 'a/b'],
      ['a%252Fb', 'a%2Fb'],
      ['a%25252Fb', 'a%252Fb'],
    ] as const) {
      const answer = await askRaw(url, `${subjectsPath}/${segment}`, { key })
      assert.equal(dataOf(answer).subjectId, id, segment)
    }
  })

  test('may contain unencoded characters that need no encoding', async () => {
    const id = "a+b:c@d!e$f&g'h(i)*j,k;l=m~n-o_p.q"
    await shop.ingest(visit(id))
    assert.equal(dataOf(await askRaw(url, `${subjectsPath}/${id}`, { key })).subjectId, id)
  })

  const impossible: [what: string, segment: string][] = [
    ['nothing', ''],
    ['one dot', '.'],
    ['two dots', '..'],
    ['one dot, encoded', '%2e'],
    ['two dots, encoded', '%2E.'],
    ['NUL', 'a%00'],
    ['a line feed', 'a%0Ab'],
    ['a tab', '%09'],
    ['the last control character of ASCII', '%1F'],
    ['DEL', 'a%7f'],
    ['the first control character beyond ASCII', '%C2%80'],
    ['the last control character beyond ASCII', '%C2%9F'],
    ['257 characters', 'x'.repeat(257)],
    ['257 emoji', encodeURIComponent('\u{1f600}'.repeat(257))],
    ['260 characters that people see as 52', encodeURIComponent(family.repeat(52))],
    ['257 characters of which 256 are accents', encodeURIComponent(`e${'\u0301'.repeat(256)}`)],
  ]
  for (const [what, segment] of impossible) {
    test(`returns 422 if it is ${what}`, async () => {
      const trackers = '/v1/analytics/trackers'
      const ask = async (target: string, method = 'GET') =>
        problemFields(await askRaw(url, target, { method, key: method === 'GET' ? key : eraser }))
      assert.deepEqual(await ask(`${trackers}/${segment}/subjects`), ['trackerId'])
      assert.deepEqual(await ask(`${subjectsPath}/${segment}`, 'DELETE'), ['subjectId'])
      assert.deepEqual(await ask(`${trackers}/${segment}/subjects/${segment}/events`), [
        'trackerId',
        'subjectId',
      ])
    })
  }
})

describe('malformed encoding', () => {
  const broken: [what: string, text: string][] = [
    ['a percent sign at the end', 'a%'],
    ['one digit', 'a%2'],
    ['no digits', '%zz'],
    ['one good digit and one bad', '%2g'],
    ['the way of old scripts', '%u0041'],
    ['a byte that UTF-8 does not have', '%ff'],
    ['a sequence cut short', '%C3'],
    ['a wrong continuation', '%C3%28'],
    ['an encoded slash within a sequence', '%C3%2F'],
    ['an overlong sequence', '%C0%AF'],
    ['a surrogate', '%ED%A0%80'],
    ['beyond the last character', '%F5%80%80%80'],
    ['a raw Latin-1 byte', 'caf\xe9'],
    ['raw UTF-8', Buffer.from('café').toString('latin1')],
  ]
  for (const [what, text] of broken) {
    test(`returns 400 in a path and in a query: ${what}`, async () => {
      for (const target of [`${subjectsPath}/${text}`, `${subjectsPath}?subjectIdPrefix=${text}`]) {
        errorOf(await askRaw(url, target, { key }), 'invalid_request')
      }
    })

    test(`erases nothing: ${what}`, async () => {
      await shop.ingest(visit('berta'))
      const answer = await askRaw(url, `${subjectPath('berta')}?${text}`, { key: eraser, method: 'DELETE' })
      errorOf(answer, 'invalid_request')
      dataOf(await shop.ask(subjectPath('berta'), { key }))
    })
  }

  test('returns 400 anywhere, whatever else is wrong', async () => {
    for (const target of [
      '/v1/analytics/trackers/%zz/subjects',
      `${subjectsPath}/%zz/events?limit=0`,
      '/v1/%zz',
      `${subjectsPath}?%zz=1`,
      `${subjectsPath}?limit=0&cursor=%zz`,
      `${subjectPath('anna')}?%zz`,
      `${subjectPath('anna')}/events?sessionId=%zz`,
    ]) {
      errorOf(await askRaw(url, target, { key }), 'invalid_request')
    }
    const erasure = await askRaw(url, `${subjectsPath}/%zz`, { key: eraser, method: 'DELETE' })
    errorOf(erasure, 'invalid_request')
  })
})
