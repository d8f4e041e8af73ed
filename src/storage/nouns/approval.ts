import type { ActivityNote } from '../../domain/activity.ts'
import type { ApprovalStore, Decision } from '../../domain/approval.ts'
import type { Instant } from '../../domain/instant.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { foundParameters } from './privacy-request.ts'
import { integer } from './row.ts'
import { statement } from './statement.ts'

const find = statement('SELECT above FROM approval_rules WHERE organisation_id = :organisationId')
const save = statement(
  `INSERT INTO approval_rules (organisation_id, above) VALUES (:organisationId, :above)
   ON CONFLICT (organisation_id) DO UPDATE SET above = excluded.above`,
)
const remove = statement('DELETE FROM approval_rules WHERE organisation_id = :organisationId')
// An approved erasure has another entry, so that it does not count.
const countStarted = statement(
  `SELECT count(*) AS started FROM activity
   WHERE organisation_id = :organisationId AND actor_id = :memberId AND kind = 'request.started' AND at > :since`,
)
const waits =
  "organisation_id = :organisationId AND id = :id AND state = 'open' AND approval_asked_at IS NOT NULL"
const approve = statement(
  `UPDATE privacy_requests SET state = 'running', actor_kind = 'member', actor_id = approval_asker_id,
     actor_name = approval_asker_name, request_id = :requestId, found_subjects = :foundSubjects,
     found_sessions = :foundSessions, found_events = :foundEvents, runs_at = 0, approval_asked_at = NULL
   WHERE ${waits} AND approval_asker_id <> :memberId`,
)
const decline = statement(`UPDATE privacy_requests SET approval_asked_at = NULL WHERE ${waits}`)

/** How many people a member may still erase without an approval; call it with the organisation locked. */
export async function unapprovedLeft(
  run: Run,
  organisationId: string,
  memberId: string,
  since: Instant,
): Promise<number> {
  const [rule] = (await run(find, { organisationId })).rows
  if (!rule) return Number.POSITIVE_INFINITY
  const [row = {}] = (await run(countStarted, { organisationId, memberId, since })).rows
  return integer(rule, 'above') - integer(row, 'started')
}

export const approvalTransactions = {
  async saveApprovalRule(
    run: Run,
    organisationId: string,
    above: number | null,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    if (above === null) run(remove, { organisationId })
    else run(save, { organisationId, above })
    insertActivity(run, note)
    return true
  },
  async approveErasures(run: Run, decisions: readonly Decision[], memberId: string): Promise<number> {
    return decide(run, decisions, (decision) =>
      run(approve, {
        ...{ ...decision.ref, ...foundParameters(decision.found), memberId },
        requestId: decision.note.requestId,
      }),
    )
  },
  async declineErasures(run: Run, decisions: readonly Decision[]): Promise<number> {
    return decide(run, decisions, ({ ref }) => run(decline, { ...ref }))
  },
}

async function decide(
  run: Run,
  decisions: readonly Decision[],
  change: (decision: Decision) => ReturnType<Run>,
): Promise<number> {
  let changed = 0
  for (const decision of decisions) {
    await lockOrganisation(run, decision.ref.organisationId)
    if ((await change(decision)).count === 0) continue
    insertActivity(run, decision.note)
    changed += 1
  }
  return changed
}

export function approvalStore(engine: Engine<typeof approvalTransactions>): ApprovalStore {
  return {
    async findRule(organisationId) {
      const [row] = await engine.read(find, { organisationId })
      return row ? integer(row, 'above') : null
    },
    saveRule: (organisationId, above, note) =>
      engine.transact('saveApprovalRule', organisationId, above, note),
    approve: (decisions, memberId) => engine.transact('approveErasures', decisions, memberId),
    decline: (decisions) => engine.transact('declineErasures', decisions),
  }
}
