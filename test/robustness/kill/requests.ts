import assert from 'node:assert/strict'
import type { Actor } from '../../../src/domain/activity.ts'
import { personCommitment, subjectCommitment } from '../../../src/domain/keyring.ts'
import { type LedgerRecord, parseRecord } from '../../../src/domain/ledger-record.ts'
import { type Person, refKey, type SubjectRef } from '../../../src/domain/person.ts'
import type { SubjectIdentifier } from '../../../src/domain/subject-identifier.ts'
import { text } from '../../../src/storage/nouns/row.ts'
import { testKeyring } from '../../support/test-keyring.ts'
import type { Queryable } from './killable-store.ts'

/** A request, and what its erasure must prove. */
export interface Requested {
  id: string
  email: string
  person: Person
  /** What is stored about the person. */
  held: readonly SubjectRef[]
  /** Subjects and identifiers of the person about which nothing is stored. */
  missing: readonly SubjectRef[]
  absent: readonly SubjectIdentifier[]
  /** Whether another request erases the same person. */
  isShared: boolean
  /** `null` for a request that a client starts. */
  startedBy: Actor | null
}

const starters: readonly (Actor | null)[] = [
  { kind: 'member', id: 'mem_1', name: 'ada@acme.example' },
  { kind: 'key', id: 'key_1', name: 'Desk' },
  { kind: 'key', id: 'key_1', name: 'Desk' },
  null,
]

/** Requests of every kind in turn: a person in two trackers, an unknown one, and one with two requests. */
export function makeRequests(count: number): Requested[] {
  return Array.from({ length: count }, (_, i) => {
    const kind = i % 5
    const isShared = kind === 3 || kind === 4
    const number = kind === 4 ? i - 1 : i
    const email = `person-${number}@example.com`
    const byEmail = { name: 'email', value: email }
    const absent = kind === 0 || kind === 2 ? [{ name: 'userId', value: `user-${i}` }] : []
    const missing = kind === 1 ? [{ trackerId: 'shop', subjectId: `missing-${i}` }] : []
    const again = kind === 2 ? [{ name: 'email', value: email.toUpperCase() }] : []
    const held = ['shop', 'blog'].map((trackerId) => ({ trackerId, subjectId: `${trackerId}-${number}` }))
    return {
      ...{ id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, email, isShared },
      person: { identifiers: [byEmail, ...again, ...absent], subjects: missing },
      held: kind === 2 ? [] : held,
      missing,
      absent: kind === 2 ? [byEmail, ...absent] : absent,
      startedBy: starters[i % starters.length] ?? null,
    }
  })
}

/** What an item of a request proves, by its entry in the ledger. */
interface Proven {
  id: string
  index: number
  what: string
  record: LedgerRecord
}

/** Fails if a request proves something twice, or something unrelated. */
export async function assertNoneTwice(store: Queryable, requested: readonly Requested[]): Promise<Proven[]> {
  const proven = await provenBy(store, requested)
  const named = proven.map(({ id, what }) => `${id} ${what}`)
  assert.deepEqual(repeated(named), [], 'nothing is in the ledger twice for one request')
  const erasures = proven.filter(({ record }) => record.version === 1 && !record.alreadyErased)
  const byIndex = new Map(erasures.map(({ index, what }) => [index, what]))
  assert.deepEqual(repeated([...byIndex.values()]), [], 'nobody was erased twice')
  return proven
}

/** Fails unless every request is done, and proves exactly what it should. */
export async function assertAnswered(store: Queryable, requested: readonly Requested[]): Promise<void> {
  const notDone = await store.ask(
    `SELECT id FROM privacy_requests WHERE state <> 'done' OR person IS NOT NULL OR left_subjects <> 0
       OR closed_at IS NULL OR holder IS NOT NULL LIMIT 3`,
  )
  assert.deepEqual(notDone, [])
  const items = `SELECT * FROM privacy_request_items
    WHERE outcome NOT IN ('erased', 'nothing-held') OR subject_id IS NOT NULL OR ledger_index IS NULL LIMIT 3`
  assert.deepEqual(await store.ask(items), [])
  const proven = await assertNoneTwice(store, requested)
  const byRequest = Map.groupBy(proven, ({ id }) => id)
  for (const request of requested) {
    const { id, held, missing, absent, email, isShared } = request
    const found = new Set((byRequest.get(id) ?? []).map(({ what }) => what))
    const about = [...missing.map(refKey), ...absent.map(nameOf)]
    const whole = new Set([...held.map(refKey), ...about])
    if (!isShared) {
      assert.deepEqual(found, whole, `what ${id} proves`)
      continue
    }
    // The other request may have erased the person, or a part, before this one searched.
    const nobody = nameOf({ name: 'email', value: email })
    const isNobody = found.delete(nobody)
    assert.ok(
      [...found].every((what) => whole.has(what)),
      `what ${id} proves`,
    )
    assert.equal(isNobody, found.size === 0, `${id} proves that nothing was held if it found nothing`)
  }
  const erased = proven.filter(({ record }) => record.version === 1 && !record.alreadyErased)
  const everyone = new Set(requested.flatMap(({ held }) => held.map(refKey)))
  assert.deepEqual(new Set(erased.map(({ what }) => what)), everyone)
}

async function provenBy(store: Queryable, requested: readonly Requested[]): Promise<Proven[]> {
  const byId = new Map(requested.map((request) => [request.id, request]))
  const rows = await store.ask(
    `SELECT request_id, ledger_index, record FROM privacy_request_items i
     JOIN ledger_entries e USING (organisation_id, ledger_index) ORDER BY request_id, ledger_index`,
  )
  return rows.map((row) => {
    const id = text(row, 'request_id')
    const record = parseRecord(text(row, 'record')) ?? assert.fail()
    const what = identify(record, byId.get(id) ?? assert.fail())
    return { id, index: Number(row.ledger_index), what, record }
  })
}

/** Whom a record is about, among the subjects and identifiers of a request. */
function identify(record: LedgerRecord, { held, missing, absent, email }: Requested): string {
  if (record.version === 1) {
    const { erasedAt, subject } = record
    const is = ({ trackerId, subjectId }: SubjectRef) =>
      subjectCommitment(testKeyring.nonce(trackerId, subjectId, erasedAt), trackerId, subjectId) === subject
    return refKey([...held, ...missing].find(is) ?? assert.fail('an erasure of somebody else'))
  }
  const { checkedAt, person } = record
  const is = (each: SubjectIdentifier) =>
    personCommitment(testKeyring.personNonce('acme', each, checkedAt), each) === person
  return nameOf([...absent, { name: 'email', value: email }].find(is) ?? assert.fail('nothing about whom'))
}

function nameOf({ name, value }: SubjectIdentifier): string {
  return `${name}=${value}`
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, i) => names.indexOf(name) !== i).slice(0, 3)
}
