import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { finishDeletions } from '../../src/maintenance/maintenance.ts'
import { sweepAged } from '../../src/maintenance/sweep.ts'
import { importLines } from '../../src/operations/import.ts'
import { deleteOrganisation } from '../../src/operations/organisation.ts'
import { deleteTracker } from '../../src/operations/tracker.ts'
import { addTracker, failure, noon, openDeps } from '../operations/fixture.ts'
import { eventRow } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'

const { deps, fresh, passTime } = openDeps()
const day = 86_400_000

async function filled(events = 6_000) {
  const tracker = await addTracker(deps(), fresh('tracker'))
  const rows = Array.from({ length: events }, (_, i) =>
    eventRow({ ...tracker, subjectId: `s${i % 3}`, eventId: `e${i}`, occurredAt: noon - i }),
  )
  await deps().ingest.ingest(rows, testKeys)
  return tracker
}

describe('deleting a tracker', () => {
  it('continues after an interruption, and leaves nothing', async () => {
    const { trackerId, organisationId } = await filled()
    await deleteTracker(deps(), trackerId, 'Shop')
    const stopping = new AbortController()
    const isSelected = ({ id }: { id: string }) => id === trackerId
    const onProgress = () => stopping.abort()
    const first = await finishDeletions(deps(), { isSelected, onProgress, signal: stopping.signal })
    assert.ok(first.events > 0 && first.events < 6_000, JSON.stringify(first))
    const left = await deps().deletions.count(trackerId)
    assert.equal(left.events, 6_000 - first.events)
    const second = await finishDeletions(deps(), { isSelected })
    assert.equal(first.events + second.events, 6_000)
    assert.equal((await deps().deletions.listTrackers()).some(isSelected), false)
    const { rows } = await deps().activity.list(organisationId, { limit: 9, after: null, requestId: null })
    assert.deepEqual(
      rows.map(({ kind, target }) => [kind, target]),
      [['tracker.deleted', `${trackerId}: Shop`]],
    )
  })

  it('is a validation_error with a wrong name, even if it was renamed meanwhile', async () => {
    const { trackerId, organisationId } = await filled(3)
    const wrong = await failure('validation_error', () => deleteTracker(deps(), trackerId, 'shop'))
    assert.match(JSON.stringify(wrong), /nothing was deleted/)
    const renaming = {
      ...deps().deletions,
      async deleteTracker(...args: Parameters<ReturnType<typeof deps>['deletions']['deleteTracker']>) {
        await deps().trackers.rename({ trackerId, organisationId }, 'Other', {
          ...args[3],
          id: fresh('note'),
        })
        return deps().deletions.deleteTracker(...args)
      },
    }
    await failure('validation_error', () =>
      deleteTracker({ ...deps(), deletions: renaming }, trackerId, 'Shop'),
    )
    assert.equal((await deps().trackers.find(trackerId))?.name, 'Other')
  })

  it('during an import makes its lines bad, with a correct count', async () => {
    const { trackerId } = await filled(3)
    const ingest = {
      ...deps().ingest,
      async ingest(...args: Parameters<ReturnType<typeof deps>['ingest']['ingest']>) {
        await deleteTracker(deps(), trackerId, 'Shop')
        return deps().ingest.ingest(...args)
      },
    }
    const bad: unknown[] = []
    const occurredAt = new Date(noon - day).toISOString()
    const event = {
      type: 'event',
      trackerId,
      subjectId: 'anna',
      sessionId: 's',
      name: 'pageview',
      occurredAt,
    }
    const lines = [1, 2].map((eventId) => JSON.stringify({ ...event, eventId: `n${eventId}` }))
    async function* blocks() {
      yield { source: 'visits.ndjson', firstNumber: 5, lines }
    }
    const onBadLine = (...told: unknown[]) => void bad.push(told)
    const summary = await importLines({ ...deps(), ingest }, blocks(), { onBadLine })
    assert.partialDeepStrictEqual(summary, { lines: 2, badLines: 2, rows: 0, events: 0 })
    const reason = `tracker "${trackerId}" was deleted; 2 lines of this tracker were not stored`
    assert.deepEqual(bad, [['visits.ndjson', 5, reason]])
  })
})

describe('deleting an organisation', () => {
  it('keeps its activity for the retention window, and then deletes it', async () => {
    const { organisationId } = await filled(3)
    await deleteOrganisation(deps(), organisationId, 'Acme')
    await finishDeletions(deps())
    const isLeft = async () =>
      (await deps().deletions.listOrganisations()).some(({ id }) => id === organisationId)
    passTime(1_825 * day)
    await sweepAged(deps())
    assert.equal(await isLeft(), true)
    passTime(1)
    await sweepAged(deps())
    assert.equal(await isLeft(), false)
  })
})
