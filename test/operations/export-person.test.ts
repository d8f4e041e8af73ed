import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { commandLine } from '../../src/domain/activity.ts'
import type { SubjectRef } from '../../src/domain/person.ts'
import type { ExportPart } from '../../src/domain/subject-export.ts'
import type { OrganisationView } from '../../src/domain/subject-search.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { exportPerson, type PersonTaker } from '../../src/operations/export-person.ts'
import { maxSnapshotMs } from '../../src/storage/rules/export.ts'
import { always, eventRow } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'
import { addTracker, noon, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()
const requestId = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34'

/** A person with a record in each of two trackers, with this many events each. */
async function addPerson(events: number): Promise<{ view: OrganisationView; subjects: SubjectRef[] }> {
  const { organisationId, trackerId } = await addTracker(deps(), fresh('shop'))
  const second = fresh('blog')
  await deps().trackers.create({ id: second, organisationId, name: 'Blog', createdAt: noon })
  const subjects = [trackerId, second].map((id) => ({ trackerId: id, subjectId: 'ada' }))
  for (const subject of subjects) {
    const rows = Array.from({ length: events }, (_, i) =>
      eventRow({ ...subject, eventId: `e${i}`, occurredAt: noon - (events - i) * 1_000 }),
    )
    await deps().ingest.ingest(rows, testKeys)
  }
  return { view: { organisationId, since: always }, subjects }
}

/** Records each complete record by tracker, with its number of events. */
class Notes implements PersonTaker {
  readonly complete: [trackerId: string, events: number][] = []
  readonly signal: AbortSignal
  readonly #onPart: (subject: SubjectRef, part: ExportPart) => Promise<unknown>
  #current: [string, number] = ['', 0]

  constructor(
    onPart: (subject: SubjectRef, part: ExportPart) => Promise<unknown> = async () => {},
    signal = new AbortController().signal,
  ) {
    this.#onPart = onPart
    this.signal = signal
  }

  async take(subject: SubjectRef, part: ExportPart): Promise<void> {
    await this.#onPart(subject, part)
    if (part.kind === 'record') this.#current = [subject.trackerId, 0]
    if (part.kind === 'events') this.#current[1] += part.rows.length
  }

  async finish(): Promise<void> {
    this.complete.push(this.#current)
  }
}

async function exported({ organisationId }: OrganisationView): Promise<(string | null)[]> {
  const page = await deps().activity.list(organisationId, { limit: 99, after: null, requestId: null })
  return page.rows.filter(({ kind }) => kind === 'request.exported').map(({ target }) => target)
}

describe('the export of a person', () => {
  it('has every record of every tracker, completely, and is recorded in the activity once', async () => {
    const { view, subjects } = await addPerson(450)
    const notes = new Notes()
    await exportPerson(deps(), view, { requestId, subjects }, commandLine, notes)
    assert.deepEqual(
      notes.complete,
      subjects.map(({ trackerId }) => [trackerId, 450]),
    )
    assert.deepEqual(await exported(view), [requestId])
  })

  it('omits records without data, hidden by the plan, or of other people', async () => {
    const { view, subjects } = await addPerson(3)
    const other = await addPerson(1)
    const [first, second] = subjects
    assert.ok(first && second)
    await eraseSubject(deps(), { ...view, trackerId: first.trackerId }, first.subjectId)
    const all = [first, { ...second, subjectId: 'nobody' }, ...other.subjects, second]
    const notes = new Notes()
    const recent = { ...view, since: noon - 2_500 }
    await exportPerson(deps(), recent, { requestId, subjects: all }, commandLine, notes)
    assert.deepEqual(notes.complete, [[second.trackerId, 2]])
    const later = new Notes()
    await exportPerson(deps(), { ...view, since: noon }, { requestId, subjects }, commandLine, later)
    assert.deepEqual(later.complete, [])
  })

  it('ends with an error of its consumer, before the record is complete', async () => {
    const { view, subjects } = await addPerson(450)
    const gone = new Error('gone')
    const notes = new Notes(async (_, { kind }) => {
      if (kind === 'events') throw gone
    })
    await assert.rejects(exportPerson(deps(), view, { requestId, subjects }, commandLine, notes), gone)
    assert.deepEqual(notes.complete, [])
  })

  it('ends between two records if its client disconnects', async () => {
    const { view, subjects } = await addPerson(3)
    const stop = new AbortController()
    const gone = new Error('gone')
    const notes = new Notes(async () => stop.abort(gone), stop.signal)
    await assert.rejects(exportPerson(deps(), view, { requestId, subjects }, commandLine, notes), gone)
    assert.equal(notes.complete.length, 1)
  })

  it('fails if a record is erased while it is read', async () => {
    const { view, subjects } = await addPerson(450)
    const notes = new Notes(async ({ trackerId, subjectId }, { kind }) => {
      if (kind !== 'sessions') return
      await eraseSubject(deps(), { ...view, trackerId }, subjectId)
      await delay(maxSnapshotMs + 1)
    })
    const broken = exportPerson(deps(), view, { requestId, subjects }, commandLine, notes)
    await assert.rejects(broken, /has changed while it was exported/)
    assert.deepEqual(notes.complete, [])
  })
})
