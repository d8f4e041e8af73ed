import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { draftOf, requestIds, setRequestDraft, takeRequestDraft } from '../../console/src/request-draft.ts'
import { uuidPattern } from '../support/answers.ts'

const seen = { firstSeenAt: '', lastSeenAt: '', counts: { sessions: 1, events: 1 } }

describe('the draft of a request', () => {
  for (const [text, name, value] of [
    ['ada@example.com', 'email', 'ada@example.com'],
    ['userId=42', 'userId', '42'],
    ['email=ada@example.com', 'email', 'ada@example.com'],
    ['email= ada@example.com', 'email', 'ada@example.com'],
    ['42', 'userId', '42'],
  ] as const) {
    test(`has the identifier that ${text} looks like, if nobody was found`, () => {
      assert.deepEqual(draftOf(text, []), { kind: 'access', identifiers: [{ name, value }], subjects: [] })
    })
  }

  test('has every identifier and ID that was found, with hidden records', () => {
    const found = { trackerId: 'shop', subjectId: '42', ...seen }
    const hidden = { trackerId: 'app', subjectId: '42' }
    const identifier = { name: 'userId', value: '42' }
    assert.deepEqual(
      draftOf('42', [
        { identifier, address: 'a', subjects: [found], hidden: [] },
        { identifier: null, address: 'b', subjects: [found], hidden: [hidden] },
      ]),
      {
        kind: 'access',
        identifiers: [identifier],
        subjects: [{ trackerId: 'shop', subjectId: '42' }, hidden],
      },
    )
  })

  test('can be used once', () => {
    const draft = draftOf('ada@example.com', [])
    setRequestDraft(draft)
    assert.equal(takeRequestDraft(), draft)
    assert.equal(takeRequestDraft(), null)
  })
})

describe('the ID of a new request', () => {
  test('is a UUID that stays the same until the content changes', () => {
    const idFor = requestIds()
    const content = { kind: 'access', person: { identifiers: [{ name: 'email', value: 'ada@example.com' }] } }
    const first = idFor(content)
    assert.match(first, uuidPattern)
    assert.equal(idFor(structuredClone(content)), first)
    assert.notEqual(idFor({ ...content, kind: 'erasure' }), first)
    assert.notEqual(requestIds()(content), first, 'another form')
  })
})
