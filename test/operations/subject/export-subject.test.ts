import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commandLine } from '../../../src/domain/activity.ts'
import { eraseSubject } from '../../../src/operations/subject/erase-subject.ts'
import { exportSubject } from '../../../src/operations/subject/export-subject.ts'
import { eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { addTracker, failure, openDeps } from '../fixture.ts'

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

async function gather<Row>(pages: AsyncIterable<Row[]>): Promise<Row[][]> {
  const all: Row[][] = []
  for await (const page of pages) all.push(page)
  return all
}

describe('the copy of a subject', () => {
  it('has its record, and all its sessions and events page by page', async () => {
    const { record, sessions, events } = await exportSubject(
      deps(),
      await addSubject(450),
      'anna',
      commandLine,
    )
    assert.deepEqual(record.counts, { sessions: 1, events: 450 })
    assert.equal((await gather(sessions)).flat().length, 1)
    assert.deepEqual(
      (await gather(events)).map((page) => page.length),
      [200, 200, 50],
    )
  })

  it('is not found where the subject is not', async () => {
    const tracker = await addSubject(1)
    await failure('not_found', exportSubject(deps(), tracker, 'nobody', commandLine))
    await failure(
      'not_found',
      exportSubject(deps(), { ...tracker, organisationId: 'another' }, 'anna', commandLine),
    )
  })

  it('breaks off when the subject is erased meanwhile: it is complete or it is none', async () => {
    const tracker = await addSubject(450)
    const { events } = await exportSubject(deps(), tracker, 'anna', commandLine)
    const pages = events[Symbol.asyncIterator]()
    assert.equal((await pages.next()).value?.length, 200)
    await eraseSubject(deps(), tracker, 'anna')
    await failure('not_found', pages.next())
  })
})
