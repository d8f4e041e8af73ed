import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { commandLine } from '../../src/domain/activity.ts'
import { openHead } from '../../src/domain/ledger.ts'
import type { Person } from '../../src/domain/person.ts'
import type { OrganisationView } from '../../src/domain/subject-search.ts'
import { advanceRequest } from '../../src/operations/advance-privacy-request.ts'
import { cancelRequest, startRequest } from '../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../src/operations/create-privacy-request.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { requireRequest } from '../../src/operations/privacy-request.ts'
import { reissueReceipt } from '../../src/operations/receipt.ts'
import { always, eventRow } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'
import { addTracker, noon, openDeps } from './fixture.ts'

const { deps, fresh, passTime } = openDeps()
const email = { name: 'email', value: 'ada@example.com' }
const userId = { name: 'userId', value: '42' }
const minuteMs = 60_000

async function visit(
  trackerId: string,
  subjectId: string,
  identifiers: Person['identifiers'],
  ageMs = minuteMs,
) {
  const event = { trackerId, subjectId, eventId: fresh('event'), occurredAt: deps().clock() - ageMs }
  const known = Object.fromEntries(identifiers.map(({ name, value }) => [name, value]))
  await deps().ingest.ingest([eventRow({ ...event, identifiers: known })], testKeys)
}

/**
 * A running erasure of a person, leased to `one`. Ada has a subject in the tracker, with her address as
 * identifier.
 */
async function run(person: Person, since = always) {
  const { organisationId, trackerId } = await addTracker(deps(), fresh('shop'))
  await visit(trackerId, 'ada', [email])
  const view: OrganisationView = { organisationId, since }
  const named = { ...person, subjects: person.subjects.map((each) => ({ ...each, trackerId })) }
  const wanted = {
    kind: 'erasure',
    person: named,
    receivedAt: null,
    reference: null,
    requestId: null,
  } as const
  const { id } = await createRequest(deps(), view, wanted, commandLine)
  const ref = { organisationId, id }
  await startRequest(deps(), view, id, commandLine)
  const lease = { now: noon, until: noon + 1_000_000, restsUntil: noon + 9_000_000, after: '' }
  for (;;) {
    const leased = await deps().privacyRequests.lease('one', lease)
    if (leased?.id === id) break
    assert.ok(leased, 'its turn comes')
  }
  return {
    ...{ view, ref, trackerId },
    advance: (leaseOwner = 'one') => advanceRequest(deps(), leaseOwner, view, ref, commandLine),
    /** Erases all waiting subjects and returns their number. */
    async eraseAll(): Promise<number> {
      for (let count = 0; ; count++) {
        const item = await deps().privacyRequests.next('one', ref)
        if (!item) return count
        const { position, subjectId } = item
        const tracker = { ...view, trackerId: item.trackerId }
        await eraseSubject(deps(), tracker, subjectId, commandLine, { request: ref, position })
      }
    },
    read: () => requireRequest(deps(), organisationId, id),
    items: () => deps().privacyRequests.items(ref, -1, 99),
  }
}

describe('a running request', () => {
  it('searches, erases, searches again and is done', async () => {
    const { advance, eraseAll, read } = await run({ identifiers: [email], subjects: [] })
    assert.equal(await advance(), 'continues')
    assert.equal(await eraseAll(), 1)
    assert.equal(await advance(), 'done')
    const found = { subjects: 1, sessions: 1, events: 1 }
    assert.partialDeepStrictEqual(await read(), {
      state: 'done',
      found,
      erased: found,
      left: 0,
      person: null,
    })
    assert.equal(await advance(), 'closed')
  })

  it('erases subjects that return meanwhile, once, and counts those that return later', async () => {
    const { advance, eraseAll, read, items, trackerId } = await run({ identifiers: [email], subjects: [] })
    await advance()
    await eraseAll()
    await visit(trackerId, 'ada on her phone', [email])
    passTime(minuteMs)
    await visit(trackerId, 'ada', [email], 0)
    assert.equal(await advance(), 'continues')
    assert.equal(await eraseAll(), 2)
    await visit(trackerId, 'ada on her tablet', [email])
    assert.equal(await advance(), 'done')
    assert.partialDeepStrictEqual(await read(), {
      ...{ state: 'done', left: 1, erased: { subjects: 3, sessions: 3, events: 3 } },
      found: { subjects: 3, sessions: 3, events: 3 },
    })
    assert.deepEqual(
      (await items()).map(({ outcome }) => outcome),
      ['erased', 'erased', 'erased'],
    )
  })

  it('erases data hidden by a shorter plan', async () => {
    const hour = 60 * minuteMs
    const { advance, eraseAll, read, trackerId } = await run(
      { identifiers: [email], subjects: [] },
      noon - hour,
    )
    await visit(trackerId, 'ada long ago', [email], 48 * hour)
    await advance()
    assert.equal(await eraseAll(), 2)
    assert.equal(await advance(), 'done')
    assert.equal((await read()).erased.subjects, 2)
    const page = await deps().search.subjects(
      { ...(await read()), since: always },
      { sought: { identifier: email }, limit: 9, after: null },
    )
    assert.deepEqual(page.rows, [])
  })

  it('certifies the identifiers without data at any time, as of its last search', async () => {
    const { advance, eraseAll, items, ref, trackerId } = await run({
      ...{ identifiers: [email, userId, { name: 'phone', value: '1' }] },
      subjects: [],
    })
    await advance()
    await eraseAll()
    await visit(trackerId, 'ada elsewhere', [userId])
    await advance()
    await eraseAll()
    passTime(minuteMs)
    assert.equal(await advance(), 'done')
    const proven = (await items()).filter(({ outcome }) => outcome === 'nothing-held')
    assert.deepEqual(
      proven.map(({ identifier }) => identifier),
      ['phone'],
      'the address and the number were held, though not by the end',
    )
    const [item] = proven
    assert.ok(item?.entry)
    const { keyring, ledger, clock } = deps()
    const head = openHead(keyring.headKeys, ref.organisationId, await ledger.head(ref.organisationId))
    const { record, receipt } = await reissueReceipt(deps(), ref.organisationId, head, item.entry)
    assert.equal(record.version === 2 && record.checkedAt, clock())
    const verifierKeys = keyring.signersOf(ref.organisationId).map(({ verifierKey }) => verifierKey)
    const identifier = { name: 'phone', value: '1' }
    assert.equal((await verifyReceipt(receipt, { verifierKeys, identifier })).index, item.entry.ledgerIndex)
  })

  it('certifies that no data is held once, even if several processes finish it', async () => {
    const { advance, ref } = await run({ identifiers: [userId], subjects: [] })
    assert.equal(await advance(), 'continues')
    const outcomes = await Promise.all([advance(), advance(), advance('two'), advance()])
    assert.deepEqual(outcomes.sort(), ['closed', 'closed', 'closed', 'done'])
    assert.equal((await deps().ledger.list(ref.organisationId, 0, 9)).length, 1)
  })

  it('has an entry for each subject that it names, with or without data', async () => {
    const subjects = ['ada', 'nobody'].map((subjectId) => ({ trackerId: '', subjectId }))
    const { advance, eraseAll, read, items } = await run({ identifiers: [], subjects })
    await advance()
    assert.equal(await eraseAll(), 2)
    assert.equal(await advance(), 'done')
    assert.deepEqual((await read()).erased, { subjects: 1, sessions: 1, events: 1 })
    assert.deepEqual(
      (await items()).map(({ entry }) => entry?.ledgerIndex),
      [0, 1],
    )
  })

  it('has one entry for a subject that it names twice', async () => {
    const subjects = ['nobody', 'nobody', 'ada', 'ada'].map((subjectId) => ({ trackerId: '', subjectId }))
    const { advance, eraseAll, items } = await run({ identifiers: [], subjects })
    await advance()
    assert.equal(await eraseAll(), 2)
    assert.equal(await advance(), 'done')
    assert.deepEqual(
      (await items()).map(({ entry }) => entry?.ledgerIndex),
      [0, 1],
    )
  })

  it('adds what it finds once, and only for the process that leases it', async () => {
    const { advance, items } = await run({ identifiers: [email], subjects: [] })
    assert.equal(await advance('two'), 'closed')
    assert.deepEqual(await items(), [])
    const outcomes = await Promise.all([advance(), advance(), advance()])
    assert.deepEqual(outcomes.sort(), ['closed', 'closed', 'continues'])
    assert.equal((await items()).length, 1)
  })

  it('does nothing after it was cancelled', async () => {
    const { advance, eraseAll, view, ref, items, read } = await run({
      identifiers: [email, userId],
      subjects: [],
    })
    await advance()
    await cancelRequest(deps(), view, ref.id, commandLine)
    assert.equal(await eraseAll(), 0)
    assert.equal(await advance(), 'closed')
    assert.deepEqual(
      (await items()).map(({ outcome }) => outcome),
      ['stopped'],
    )
    assert.equal((await read()).state, 'cancelled')
    assert.deepEqual(await deps().ledger.list(ref.organisationId, 0, 9), [])
  })
})
