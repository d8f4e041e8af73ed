import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { commandLine, type Origin } from '../../src/domain/activity.ts'
import { Problems } from '../../src/domain/errors.ts'
import { Keyring } from '../../src/domain/keyring.ts'
import { openHead } from '../../src/domain/ledger.ts'
import type { Person } from '../../src/domain/person.ts'
import type { PrivacyRequest } from '../../src/domain/privacy-request.ts'
import type { OrganisationView } from '../../src/domain/subject-search.ts'
import {
  cancelRequest,
  closeRequest,
  extendRequest,
  rejectRequest,
  startRequest,
} from '../../src/operations/change-privacy-request.ts'
import { createRequest, type WantedRequest } from '../../src/operations/create-privacy-request.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { maxFoundSubjects } from '../../src/operations/find-person.ts'
import {
  listRequests,
  planRequestList,
  readRequest,
  requestsOfPerson,
} from '../../src/operations/privacy-request.ts'
import { reissueReceipt } from '../../src/operations/receipt.ts'
import { excludeRecord } from '../../src/operations/request-handling.ts'
import { readRequestPage } from '../../src/operations/request-page.ts'
import { always, at, eventRow } from '../support/rows.ts'
import { testKeys, testSecret } from '../support/test-keyring.ts'
import { addTracker, failure, noon, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()
const uuid = '6F8B2C1E-5A0D-4a57-9b7e-0c2f6d1f7a34'
const nothing = { subjects: 0, sessions: 0, events: 0 }
const member: Origin = {
  ...{ actor: { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const, requestId: 'req-1' },
  organisationId: null,
}

/** An organisation with two trackers, in which Ada has her address as identifier and two events each. */
async function open() {
  const { organisationId, trackerId } = await addTracker(deps(), fresh('shop'))
  const second = fresh('blog')
  await deps().trackers.create({ id: second, organisationId, name: 'Blog', createdAt: noon })
  const ada = { name: 'email', value: 'ada@example.com' }
  for (const each of [trackerId, second]) await visit(each, 'ada', [ada])
  const person: Person = { identifiers: [ada], subjects: [] }
  const view: OrganisationView = { organisationId, since: always }
  return { view, organisationId, trackerId, second, person }
}

async function visit(trackerId: string, subjectId: string, identifiers: Person['identifiers'] = []) {
  const rows = [1, 2].map((hours) =>
    eventRow({
      ...{ trackerId, subjectId, eventId: `e${hours}`, occurredAt: noon - hours * 3_600_000 },
      identifiers: Object.fromEntries(identifiers.map(({ name, value }) => [name, value])),
    }),
  )
  await deps().ingest.ingest(rows, testKeys)
}

const create = (view: OrganisationView, person: Person, wanted: Partial<WantedRequest> = {}) =>
  createRequest(
    deps(),
    view,
    { kind: 'erasure', person, receivedAt: null, reference: null, requestId: null, ...wanted },
    member,
  )

async function kindsOf({ organisationId }: OrganisationView): Promise<string[]> {
  const { rows } = await deps().activity.list(organisationId, { limit: 99, after: null, requestId: null })
  return rows.filter(({ target }) => target !== null).map(({ kind }) => kind)
}

describe('a request', () => {
  it('is open, due a month after receipt, and shows the data stored now', async () => {
    const { view, person, trackerId } = await open()
    const request = await create(view, person, { reference: 'Ticket 7' })
    assert.partialDeepStrictEqual(request, {
      ...{ state: 'open', kind: 'erasure', reference: 'Ticket 7', receivedAt: noon, person },
      ...{ dueAt: at('2026-12-15T12:00:00.000Z'), found: { subjects: 2, sessions: 2, events: 4 } },
      ...{ createdBy: member.actor, closedAt: null, left: null },
    })
    await visit(trackerId, 'ada again', person.identifiers)
    const read = await readRequest(deps(), view, request.id)
    assert.deepEqual(read.found, { subjects: 3, sessions: 3, events: 6 })
    assert.deepEqual(await kindsOf(view), ['request.created'])
  })

  it('finds data hidden by a shorter plan, but counts only the visible data', async () => {
    const { view, person } = await open()
    const recent = { ...view, since: noon - 90 * 60_000 }
    assert.deepEqual((await create(recent, person)).found, { subjects: 2, sessions: 2, events: 2 })
    const later = { ...view, since: noon }
    assert.deepEqual((await create(later, person)).found, { subjects: 2, sessions: 0, events: 0 })
  })

  it('excludes a record at the time of its entry in the activity', async () => {
    const { view, organisationId, person, trackerId } = await open()
    const { id } = await create(view, person)
    let now = noon
    const ticking = { ...deps(), clock: () => ++now }
    await excludeRecord(ticking, view, id, { trackerId, subjectId: 'ada' }, 'A shared device', member)
    const [exclusion] = await deps().requestHandling.exclusions({ organisationId, id })
    const [entry] = await deps().activity.ofPrivacyRequest({ organisationId, id }, 1)
    assert.deepEqual([entry?.kind, entry?.at], ['request.record-excluded', exclusion?.at])
  })

  it('rejects text that contains an ID that it finds', async () => {
    const { view, person, trackerId } = await open()
    await visit(trackerId, 'visitor-39710012', person.identifiers)
    const text = 'Ticket of visitor-39710012'
    const { id } = await create(view, person)
    const subject = { trackerId, subjectId: 'ada' }
    const kept: [field: string, work: () => Promise<unknown>][] = [
      ['reference', () => create(view, person, { reference: text })],
      ['reason', () => extendRequest(deps(), view, id, text, member)],
      ['reason', () => rejectRequest(deps(), view, id, text, member)],
      ['reason', () => excludeRecord(deps(), view, id, subject, text, member)],
    ]
    for (const [field, work] of kept)
      assert.deepEqual(Object.keys((await failure('validation_error', work)).fields), [field])
  })

  const due: [receivedAt: string, dueAt: string, extended: string][] = [
    ['2026-01-31T23:59:59.999Z', '2026-02-28T23:59:59.999Z', '2026-04-28T23:59:59.999Z'],
    ['2024-01-30T00:00:00.000Z', '2024-02-29T00:00:00.000Z', '2024-04-29T00:00:00.000Z'],
    ['2025-12-31T10:00:00.000Z', '2026-01-31T10:00:00.000Z', '2026-03-31T10:00:00.000Z'],
    ['2026-10-31T10:00:00.000Z', '2026-11-30T10:00:00.000Z', '2027-01-30T10:00:00.000Z'],
    ['0000-12-31T10:00:00.000Z', '0001-01-31T10:00:00.000Z', '0001-03-31T10:00:00.000Z'],
  ]
  for (const [receivedAt, dueAt, extended] of due) {
    it(`received ${receivedAt} is due ${dueAt}, or ${extended} if extended`, async () => {
      const { view, person } = await open()
      const request = await create(view, person, { receivedAt: at(receivedAt) })
      assert.equal(request.dueAt, at(dueAt))
      const later = await extendRequest(deps(), view, request.id, 'Many systems', member)
      assert.equal(later.dueAt, at(extended))
    })
  }

  it('is created once with a request ID, in any case, and only with the same content', async () => {
    const { view, person, trackerId } = await open()
    const wanted = { requestId: uuid, receivedAt: noon - 5, reference: 'A' }
    const first = await create(view, person, wanted)
    assert.equal(first.id, uuid.toLowerCase())
    const again = await Promise.all(
      [uuid, uuid.toLowerCase()].map((requestId) => create(view, person, { ...wanted, requestId })),
    )
    for (const each of again) assert.deepEqual(each, first)
    const others: [Partial<WantedRequest>, Person][] = [
      [{ kind: 'access' }, person],
      [{ reference: null }, person],
      [{ receivedAt: null }, person],
      [{ receivedAt: noon - 6 }, person],
      [{}, { ...person, subjects: [{ trackerId, subjectId: 'ada' }] }],
      [{}, { ...person, identifiers: [{ name: 'userId', value: 'ada@example.com' }] }],
      [{}, { ...person, identifiers: [{ name: 'email', value: 'adam@example.com' }] }],
    ]
    for (const [fields, other] of others) {
      const { fields: problems } = await failure(
        'validation_error',
        create(view, other, { ...wanted, ...fields }),
      )
      assert.deepEqual(Object.keys(problems), ['requestId'], JSON.stringify(fields))
    }
    await cancelRequest(deps(), view, first.id, member)
    assert.equal((await create(view, person, wanted)).state, 'cancelled')
    assert.deepEqual(await kindsOf(view), ['request.cancelled', 'request.created'])
    const { view: stranger, person: other } = await open()
    assert.equal((await create(stranger, other, wanted)).state, 'open')
  })

  const sameIdentifiers: [name: string, value: string, repeated: string][] = [
    ['email', 'José@example.com', 'JOSE\u0301@Example.COM'],
    ['userId', 'José', 'Jose\u0301'],
  ]
  for (const [name, value, repeated] of sameIdentifiers) {
    it(`has the same content with an equivalent identifier: ${name}`, async () => {
      const { view } = await open()
      const named = (value: string): Person => ({ identifiers: [{ name, value }], subjects: [] })
      const { id } = await create(view, named(value), { requestId: uuid })
      assert.equal((await create(view, named(repeated), { requestId: uuid })).id, id)
      assert.deepEqual(await kindsOf(view), ['request.created'])
    })
  }

  it('is created once if it is created concurrently', async () => {
    const { view, person } = await open()
    const created = await Promise.all([1, 2, 3, 4].map(() => create(view, person, { requestId: uuid })))
    assert.equal(new Set(created.map(({ id }) => id)).size, 1)
    assert.deepEqual(await kindsOf(view), ['request.created'])
  })

  const identifier = { name: 'email', value: 'a@b.example' }
  const invalid: [what: string, field: string, wanted: Partial<WantedRequest>][] = [
    ['no person', 'person', { person: { identifiers: [], subjects: [] } }],
    ['33 identifiers', 'person', { person: { identifiers: Array(33).fill(identifier), subjects: [] } }],
    [
      'half a character',
      'person',
      { person: { identifiers: [{ name: 'a', value: '\ud800' }], subjects: [] } },
    ],
    [
      'a tracker that is not there',
      'person',
      { person: { identifiers: [], subjects: [{ trackerId: 'gone', subjectId: 'a' }] } },
    ],
    ['the future', 'receivedAt', { receivedAt: noon + 1 }],
    ['a long reference', 'reference', { reference: 'a'.repeat(201) }],
    ['an empty reference', 'reference', { reference: '' }],
    ['half a character in its reference', 'reference', { reference: '\udfff' }],
    ['its person in its reference', 'reference', { reference: 'Ticket of ADA@example.com' }],
    ['a line break in its reference', 'reference', { reference: 'a\nb' }],
  ]
  for (const [what, field, wanted] of invalid) {
    it(`is not created with ${what}`, async () => {
      const { view, person } = await open()
      const { fields } = await failure('validation_error', create(view, person, wanted))
      assert.deepEqual(Object.keys(fields), [field])
      assert.deepEqual(await kindsOf(view), [])
    })
  }

  it('is not created for a subject in a tracker of another organisation', async () => {
    const [{ view }, other] = [await open(), await open()]
    const subjects = [{ trackerId: other.trackerId, subjectId: 'ada' }]
    const { fields } = await failure('validation_error', create(view, { identifiers: [], subjects }))
    assert.deepEqual(Object.keys(fields), ['person'])
  })

  it('is listed page by page, with a cursor for its filters only', async () => {
    const { view, person } = await open()
    const ids: string[] = []
    for (const days of [3, 1, 2]) {
      ids.unshift((await create(view, person, { receivedAt: noon - days * 86_400_000 })).id)
    }
    const [first, third, second] = [ids[2], ids[0], ids[1]]
    const plan = (options: Parameters<typeof planRequestList>[0]) => {
      const problems = new Problems()
      const query = planRequestList(options, problems)
      problems.throwIfAny()
      return query
    }
    const list = (options: Parameters<typeof planRequestList>[0]) =>
      listRequests(deps(), view.organisationId, plan(options))
    const page = await list({ limit: 2, state: 'open' })
    assert.deepEqual(
      page.requests.map(({ id }) => id),
      [first, third],
    )
    const { nextCursor } = page
    assert.ok(nextCursor)
    const next = await list({ state: 'open', cursor: nextCursor })
    assert.deepEqual([next.requests.map(({ id }) => id), next.nextCursor], [[second], null])
    for (const other of [{ state: 'pending' } as const, {}, { state: 'open', kind: 'access' } as const])
      await failure('validation_error', async () => plan({ ...other, cursor: nextCursor }))
  })
})

describe('a request of the same person', () => {
  it('is recognised by any part of the person in any notation, even after it was closed', async () => {
    const { view, organisationId, person, trackerId } = await open()
    const subject = { trackerId, subjectId: 'ada' }
    const { id } = await create(view, { ...person, subjects: [subject] })
    await rejectRequest(deps(), view, id, 'Not a customer', member)
    const ofPerson = async (
      of: string,
      identifiers: Person['identifiers'],
      subjects: Person['subjects'] = [],
    ) => (await requestsOfPerson(deps(), of, { identifiers, subjects }, 9)).map((each) => each.id)
    assert.deepEqual(await ofPerson(organisationId, [{ name: 'email', value: 'ADA@example.com' }]), [id])
    assert.deepEqual(await ofPerson(organisationId, [], [subject]), [id])
    assert.deepEqual(await ofPerson(organisationId, [{ name: 'userId', value: 'ada@example.com' }]), [])
    assert.deepEqual(await ofPerson('another', person.identifiers), [])
  })

  it('is recognised across a rotation of the secret, even after it was closed', async () => {
    const { view, person } = await open()
    const keyring = new Keyring([testSecret('new'), testSecret()], 'lethe.local')
    const rotated = { ...deps(), keyring }
    const { id: before } = await create(view, person)
    const wanted = { kind: 'access', person, receivedAt: null, reference: null, requestId: null } as const
    const { id: after } = await createRequest(rotated, view, wanted, member)
    for (const id of [before, after]) await cancelRequest(rotated, view, id, member)
    for (const [id, other] of [
      [before, after],
      [after, before],
    ] as const) {
      const { earlier } = await readRequestPage(rotated, view, id)
      assert.deepEqual(
        earlier.map((each) => each.id),
        [other],
      )
    }
  })
})

describe('a change of a request', () => {
  const changes = {
    extend: (view, id) => extendRequest(deps(), view, id, 'Many systems', member),
    reject: (view, id) => rejectRequest(deps(), view, id, 'Not a customer', member),
    cancel: (view, id) => cancelRequest(deps(), view, id, member),
    close: (view, id) => closeRequest(deps(), view, id, member),
    erase: (view, id) => startRequest(deps(), view, id, member),
  } satisfies Record<string, (view: OrganisationView, id: string) => Promise<PrivacyRequest>>
  type Verb = keyof typeof changes

  // By verb and earlier changes: the resulting state, or the rejected field.
  const outcomes: [kind: PrivacyRequest['kind'], before: Verb[], verb: Verb, outcome: string][] = [
    ['erasure', [], 'extend', 'open'],
    ['erasure', ['extend'], 'extend', 'extendedAt'],
    ['erasure', ['erase'], 'extend', 'running'],
    ['erasure', ['cancel'], 'extend', 'state'],
    ['erasure', [], 'reject', 'rejected'],
    ['erasure', ['erase'], 'reject', 'state'],
    ['erasure', ['reject'], 'reject', 'state'],
    ['erasure', [], 'cancel', 'cancelled'],
    ['erasure', ['erase'], 'cancel', 'cancelled'],
    ['erasure', ['cancel'], 'cancel', 'state'],
    ['erasure', [], 'close', 'kind'],
    ['access', [], 'close', 'done'],
    ['access', ['close'], 'close', 'state'],
    ['access', ['cancel'], 'close', 'state'],
    ['erasure', [], 'erase', 'running'],
    ['erasure', ['erase'], 'erase', 'running'],
    ['erasure', ['cancel'], 'erase', 'state'],
    ['access', [], 'erase', 'kind'],
    ['access', ['extend'], 'reject', 'rejected'],
  ]
  for (const [kind, before, verb, outcome] of outcomes) {
    it(`to ${verb} ${kind} after [${before}]: ${outcome}`, async () => {
      const { view, person } = await open()
      const { id } = await create(view, person, { kind })
      for (const each of before) await changes[each](view, id)
      const noted = await kindsOf(view)
      if (!['open', 'running', 'done', 'rejected', 'cancelled'].includes(outcome)) {
        const { fields } = await failure('validation_error', changes[verb](view, id))
        assert.deepEqual(Object.keys(fields), [outcome])
        assert.deepEqual(await kindsOf(view), noted)
        return
      }
      const changed = await changes[verb](view, id)
      assert.equal(changed.state, outcome)
      assert.deepEqual(await readRequest(deps(), view, id), changed)
      const isNoted = !(verb === 'erase' && before.includes('erase'))
      assert.equal((await kindsOf(view)).length, noted.length + Number(isNoted))
      if (['done', 'rejected', 'cancelled'].includes(outcome)) {
        assert.deepEqual([changed.person, changed.closedAt], [null, noon])
      }
    })
  }

  for (const verb of ['extend', 'reject', 'cancel', 'close', 'erase'] as const) {
    it(`to ${verb} is not possible for another organisation`, async () => {
      const [{ view, person }, { view: stranger }] = [await open(), await open()]
      const { id } = await create(view, person)
      await failure('not_found', changes[verb](stranger, id))
      await failure('not_found', readRequest(deps(), stranger, id))
      assert.equal((await readRequest(deps(), view, id)).state, 'open')
    })
  }

  it('needs a reason that can be read and stored', async () => {
    const { view, person } = await open()
    const { id } = await create(view, person)
    for (const reason of ['', '   ', 'a'.repeat(1_001), 'a\0b', '\ud800', 'Ada%40example.com asked']) {
      for (const change of [extendRequest, rejectRequest]) {
        const { fields } = await failure('validation_error', change(deps(), view, id, reason, member))
        assert.deepEqual(Object.keys(fields), ['reason'])
      }
    }
    const extended = await extendRequest(deps(), view, id, 'Two systems:\r\n\t1. ✉', member)
    assert.equal(extended.extensionReason, 'Two systems:\r\n\t1. ✉')
  })

  it('is made once if several processes attempt it', async () => {
    for (const verb of ['extend', 'reject', 'cancel', 'close'] as const) {
      const { view, person } = await open()
      const { id } = await create(view, person, { kind: verb === 'close' ? 'access' : 'erasure' })
      const attempts = await Promise.allSettled([1, 2, 3, 4].map(() => changes[verb](view, id)))
      assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1, verb)
      assert.equal((await kindsOf(view)).length, 2, verb)
    }
  })
})

describe('a closed access request', () => {
  const identifiers = [
    { name: 'email', value: 'ada@example.com' },
    { name: 'userId', value: '42' },
  ]

  it('certifies the identifiers without data in the transaction that closes it', async () => {
    const { view, organisationId } = await open()
    const { id } = await create(view, { identifiers, subjects: [] }, { kind: 'access' })
    const closed = await closeRequest(deps(), view, id, member)
    assert.deepEqual(closed.found, { subjects: 2, sessions: 2, events: 4 })
    const items = await deps().privacyRequests.items({ organisationId, id }, -1, 9)
    assert.deepEqual(
      items.map(({ outcome, identifier }) => [outcome, identifier]),
      [['nothing-held', 'userId']],
    )
    const { keyring, ledger } = deps()
    const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
    const [item] = items
    assert.ok(item?.entry)
    const { receipt } = await reissueReceipt(deps(), organisationId, head, item.entry)
    const verifierKeys = keyring.signersOf(organisationId).map(({ verifierKey }) => verifierKey)
    const [, userId] = identifiers
    assert.ok(userId)
    assert.equal((await verifyReceipt(receipt, { verifierKeys, identifier: userId })).index, 0)
  })

  it('certifies nothing for an identifier after more subjects than a search finds', async () => {
    const { view, organisationId, trackerId } = await open()
    const [ada, nobody] = identifiers
    assert.ok(ada && nobody)
    const shared = { name: 'household', value: 'all' }
    const rows = Array.from({ length: maxFoundSubjects + 1 }, (_, i) =>
      eventRow({ trackerId, subjectId: `one-${i}`, eventId: 'e', identifiers: { household: 'all' } }),
    )
    await deps().ingest.ingest(rows, testKeys)
    const person = { identifiers: [shared, ada, nobody], subjects: [] }
    const { id } = await create(view, person, { kind: 'access' })
    await closeRequest(deps(), view, id, member)
    const items = await deps().privacyRequests.items({ organisationId, id }, -1, 9)
    assert.deepEqual(
      items.map(({ identifier }) => identifier),
      ['userId'],
    )
  })

  it('has no entry in the ledger if every identifier has data', async () => {
    const { view, organisationId, person, trackerId } = await open()
    const { id } = await create(view, person, { kind: 'access' })
    await eraseSubject(deps(), { ...view, trackerId }, 'ada', commandLine)
    const closed = await closeRequest(deps(), view, id, member)
    assert.deepEqual(closed.found, { subjects: 1, sessions: 1, events: 2 })
    assert.equal((await deps().ledger.list(organisationId, 0, 9)).length, 1, 'that of the erasure')
    assert.deepEqual(closed.erased, nothing)
  })
})
