import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { commandLine } from '../../src/domain/activity.ts'
import type { TrackerView } from '../../src/domain/tracker.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { exportSubject } from '../../src/operations/export-subject.ts'
import { maxSnapshotMs } from '../../src/storage/rules/export.ts'
import { eventRow } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'
import { addTracker, failure, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()

async function addSubject(events: number) {
  const tracker = await addTracker(deps(), fresh('tracker'))
  const { trackerId } = tracker
  await deps().ingest.ingest(
    Array.from({ length: events }, (_, i) => eventRow({ trackerId, subjectId: 'anna', eventId: `e${i}` })),
    testKeys,
  )
  return tracker
}

/** The parts of an export with their numbers of rows. */
async function gather(tracker: TrackerView, subjectId: string): Promise<string[]> {
  const parts: string[] = []
  await exportSubject(deps(), tracker, subjectId, commandLine, {
    async take(part) {
      parts.push(part.kind === 'record' ? 'record' : `${part.rows.length} ${part.kind}`)
    },
  })
  return parts
}

async function exportsNoted({ organisationId }: TrackerView): Promise<number> {
  const page = await deps().activity.list(organisationId, { limit: 99, after: null, requestId: null })
  return page.rows.filter(({ kind }) => kind === 'subject.exported').length
}

describe('the export of a subject', () => {
  it('has its record, then all its sessions and events in parts, and is recorded in the activity', async () => {
    const tracker = await addSubject(450)
    const before = await exportsNoted(tracker)
    const [record, sessions, ...events] = await gather(tracker, 'anna')
    assert.deepEqual([record, sessions], ['record', '1 sessions'])
    assert.ok(events.length > 1)
    assert.equal(
      events.reduce((sum, part) => sum + Number.parseInt(part, 10), 0),
      450,
    )
    assert.equal(await exportsNoted(tracker), before + 1)
  })

  it('fails for an unknown subject, without an entry in the activity', async () => {
    const tracker = await addSubject(1)
    const before = await exportsNoted(tracker)
    await failure('not_found', gather(tracker, 'nobody'))
    await failure('not_found', gather({ ...tracker, organisationId: 'another' }, 'anna'))
    assert.equal(await exportsNoted(tracker), before)
  })

  it('fails if the subject is erased meanwhile, which it does not block', async () => {
    const tracker = await addSubject(450)
    const broken = exportSubject(deps(), tracker, 'anna', commandLine, {
      async take({ kind }) {
        if (kind === 'sessions') await eraseSubject(deps(), tracker, 'anna')
      },
    })
    await assert.rejects(broken, /has changed while it was exported/)
    await failure('not_found', gather(tracker, 'anna'))
  })

  it('fails if earlier data arrives in a part that was not read yet', async () => {
    const tracker = await addSubject(450)
    const { trackerId } = tracker
    let parts = 0
    const broken = exportSubject(deps(), tracker, 'anna', commandLine, {
      async take({ kind }) {
        if (kind !== 'events' || ++parts > 1) return
        await delay(maxSnapshotMs + 1)
        // Ordered by ID, it comes before the last event, e99.
        await deps().ingest.ingest(
          [eventRow({ trackerId, subjectId: 'anna', eventId: 'e98-late' })],
          testKeys,
        )
      },
    })
    await assert.rejects(broken, /does not match the record/)
  })

  it('fails if the store returns fewer rows than the record states', async () => {
    const tracker = await addSubject(3)
    const { exports } = deps()
    const forgetful: typeof exports = {
      subject: (view, id, take, giveWay) =>
        exports.subject(
          ...([view, id] as const),
          async (part) => (part.kind === 'events' ? undefined : take(part)),
          giveWay,
        ),
    }
    const broken = exportSubject({ ...deps(), exports: forgetful }, tracker, 'anna', commandLine, {
      take: async () => {},
    })
    await assert.rejects(broken, /does not match the record/)
  })
})
