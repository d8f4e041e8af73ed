import type { SweepStep } from '../../domain/retention.ts'
import type { Engine, Run } from './engine.ts'
import { ownItems, type RequestSweepStore, removeExclusions } from './privacy-request.ts'
import { lockSweptBefore, sweptBefore, windowOf } from './retention.ts'
import { integer, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const before = 'organisation_id = :organisationId AND closed_at < :before'
const closedBefore = statement(
  `SELECT id FROM privacy_requests WHERE ${before} ORDER BY closed_at LIMIT 1`,
  'one',
  // Not by organisation, because only the oldest are read.
  `SELECT id FROM privacy_requests INDEXED BY privacy_requests_closed WHERE ${before} ORDER BY closed_at LIMIT 1`,
)
const countClosedBefore = statement(`SELECT count(*) AS requests FROM privacy_requests WHERE ${before}`)
const removeItems = statement(
  `DELETE FROM privacy_request_items WHERE ${ownItems} AND place IN (
     SELECT place FROM privacy_request_items WHERE ${ownItems} ORDER BY place LIMIT :maxRows)`,
)
const removePeople = statement(`DELETE FROM privacy_request_people WHERE ${ownItems}`)
const remove = statement('DELETE FROM privacy_requests WHERE organisation_id = :organisationId AND id = :id')

export const requestSweepTransactions = {
  async sweepPrivacyRequests(
    run: Run,
    organisationId: string,
    step: SweepStep,
  ): Promise<{ requests: number; isDone: boolean }> {
    const before = await lockSweptBefore(run, 'activity', organisationId, step)
    if (before === null) return { requests: 0, isDone: true }
    const [row] = (await run(closedBefore, { organisationId, before })).rows
    if (!row) return { requests: 0, isDone: true }
    const ref = { organisationId, id: text(row, 'id') }
    const { count } = await run(removeItems, { ...ref, maxRows: step.maxRows })
    noteDeletion(run)
    if (count === step.maxRows) return { requests: 0, isDone: false }
    await run(removePeople, ref)
    await run(removeExclusions, ref)
    await run(remove, ref)
    // The last step is answered once nothing of it is in SQLite's log.
    return { requests: 1, isDone: (await run(closedBefore, { organisationId, before })).count === 0 }
  },
}

export function requestSweepStore(engine: Engine<typeof requestSweepTransactions>): RequestSweepStore {
  return {
    async sweep(organisationId, step) {
      const before = sweptBefore(
        await engine.read(windowOf.activity, { id: organisationId }),
        'activity',
        step,
      )
      const isAny =
        before !== null && (await engine.read(closedBefore, { organisationId, before })).length > 0
      return isAny
        ? engine.transact('sweepPrivacyRequests', organisationId, step)
        : { requests: 0, isDone: true }
    },
    async countClosedBefore(organisationId, before) {
      const [row = {}] = await engine.readLong(countClosedBefore, { organisationId, before })
      return integer(row, 'requests')
    },
  }
}
