import { setImmediate as nextTurn } from 'node:timers/promises'
import { commandLine, type Origin, type SubjectCounts } from '../domain/activity.ts'
import { type DailyTotalStore, dayOf } from '../domain/daily-total.ts'
import type { DeletionStore } from '../domain/deletion.ts'
import { LetheError, Problems } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import {
  checkName,
  checkOrganisationId,
  type Organisation,
  type OrganisationStore,
} from '../domain/organisation.ts'
import { maxPageSize } from '../domain/page.ts'
import type { Randomness } from '../domain/randomness.ts'
import { isPlan, plans, type RetentionPolicy } from '../domain/retention.ts'
import type { SubjectPosition, SubjectStore } from '../domain/subject.ts'
import type { TrackerStore, TrackerView } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'

export const maxNameLength = 128

/** Creates an organisation, on the plan `free` unless another is given. `validation_error` for what will not do, a taken id included. */
export async function createOrganisation(
  {
    organisations,
    retentionDays,
    activityDays,
    clock,
    randomness,
  }: RetentionPolicy & {
    organisations: OrganisationStore
    clock: Clock
    randomness: Randomness
  },
  { name, plan = 'free', id = `org_${randomness.base62(16)}` }: { name: string; plan?: string; id?: string },
): Promise<Organisation> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  checkOrganisationId(id, problems)
  if (!isPlan(plan)) problems.add('plan', `plan must be one of ${plans.join(', ')}`)
  problems.throwIfAny()
  const organisation: Organisation = { id, name, plan: isPlan(plan) ? plan : 'free', createdAt: clock() }
  // It has nothing yet that a window could be too short for.
  const windows = { visitors: retentionDays[organisation.plan], activity: activityDays }
  if (!(await organisations.create(organisation, windows))) {
    const isThere = (await organisations.find(id)) !== null
    problems.add(
      'id',
      isThere
        ? `there is an organisation "${id}" already`
        : `"${id}" was an organisation that was deleted, and its activity is kept under this id; take another`,
    )
  }
  problems.throwIfAny()
  return organisation
}

/** Gives an organisation another name; its id stays. `validation_error` for a name that will not do, `not_found` without it. */
export async function renameOrganisation(
  deps: { organisations: OrganisationStore; clock: Clock; randomness: Randomness },
  id: string,
  name: string,
  origin: Origin = commandLine,
): Promise<Organisation> {
  const problems = new Problems()
  checkName(name, maxNameLength, problems)
  problems.throwIfAny()
  const organisation = await requireOrganisation(deps, id)
  if (organisation.name === name) return organisation
  const target = `${organisation.name} → ${name}`
  const note = activityNote(deps, origin, { organisationId: id, kind: 'organisation.renamed', target })
  await deps.organisations.rename(id, name, note)
  return requireOrganisation(deps, id)
}

/** Moves an organisation to another plan. */
export async function setPlan(
  deps: { organisations: OrganisationStore; clock: Clock; randomness: Randomness },
  organisationId: string,
  plan: string,
  origin: Origin = commandLine,
): Promise<void> {
  if (!isPlan(plan)) {
    throw new LetheError('validation_error', 'Check plan: see details.', [
      { field: 'plan', message: `plan must be one of ${plans.join(', ')}` },
    ])
  }
  const what = { organisationId, kind: 'organisation.plan-changed', target: plan } as const
  if (!(await deps.organisations.setPlan(organisationId, plan, activityNote(deps, origin, what)))) {
    throw new LetheError('not_found', `There is no organisation "${organisationId}".`)
  }
}

/** What a shorter window would hide. */
interface HiddenCounts {
  /** Data subjects of whom nothing would be left to see, counted up to `mostCounted`. */
  subjects: number
  hasMoreSubjects: boolean
  /** Sessions and events of those days by the daily totals, which also hold what was erased since: at most so many would be hidden. */
  atMost: SubjectCounts
}

/** Further than that is not counted: what it costs should not depend on how many there are. */
const mostCounted = 1_000

interface HiddenDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  dailyTotals: DailyTotalStore
}

/** What a member sees now and would not see with a window that begins at `until`. Changes nothing. */
export async function countHidden(
  deps: HiddenDeps,
  view: { organisationId: string; since: Instant },
  until: Instant,
): Promise<HiddenCounts> {
  const hidden = { subjects: 0, hasMoreSubjects: false, atMost: { sessions: 0, events: 0 } }
  if (until <= view.since) return hidden
  for (const { id } of await deps.trackers.list(view.organisationId)) {
    const tracker = { ...view, trackerId: id }
    const sums = (await deps.dailyTotals.sum(tracker, dayOf(view.since), dayOf(until))) ?? []
    for (const { sessions, events } of sums) {
      hidden.atMost.sessions += sessions
      hidden.atMost.events += events
    }
    hidden.subjects += await countLastSeen(deps, tracker, until, mostCounted - hidden.subjects)
    await nextTurn()
  }
  return { ...hidden, hasMoreSubjects: hidden.subjects >= mostCounted }
}

/** How many subjects of a tracker were last seen before an instant, counted up to `most`. */
async function countLastSeen(
  { subjects }: HiddenDeps,
  tracker: TrackerView,
  lastSeenBefore: Instant,
  most: number,
): Promise<number> {
  let count = 0
  let after: SubjectPosition | null = null
  while (count < most) {
    const query = { sort: 'lastSeenAt', subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore } as const
    const limit = Math.min(maxPageSize, most - count)
    const page = await subjects.list(tracker, { ...query, limit, after })
    count += page?.rows.length ?? 0
    if (!page?.next) break
    after = page.next
  }
  return count
}

interface OrganisationDeletionDeps {
  organisations: OrganisationStore
  deletions: DeletionStore
  clock: Clock
  randomness: Randomness
}

/** Finds an organisation that was deleted and of whose trackers something is left. */
async function findRemaining({ deletions }: { deletions: DeletionStore }, id: string) {
  const isLeft = (await deletions.listTrackers()).some(({ organisationId }) => organisationId === id)
  if (!isLeft) return null
  return (await deletions.listOrganisations()).find((organisation) => organisation.id === id) ?? null
}

/** The organisation an operator wants to delete, or whose deletion broke off. `not_found` when there is none. */
export async function requireDeletableOrganisation(
  deps: Pick<OrganisationDeletionDeps, 'organisations' | 'deletions'>,
  id: string,
): Promise<Organisation> {
  return (await findRemaining(deps, id)) ?? requireOrganisation(deps, id)
}

/**
 * Deletes an organisation with its keys, members and trackers, whose data may then be removed. `typedName` is its name as whoever
 * deletes it typed it: `validation_error` when it is not the organisation's. Nothing changes for one whose deletion broke off.
 */
export async function deleteOrganisation(
  deps: OrganisationDeletionDeps,
  id: string,
  typedName: string,
  origin: Origin = commandLine,
): Promise<Organisation> {
  const remaining = await findRemaining(deps, id)
  const organisation = remaining ?? (await requireOrganisation(deps, id))
  const { name } = organisation
  const problems = new Problems()
  if (typedName !== name)
    problems.add('name', 'the name typed is not the name of this organisation; nothing was deleted')
  problems.throwIfAny()
  if (remaining) return organisation
  const what = { organisationId: id, kind: 'organisation.deleted', target: `${id}: ${name}` } as const
  const note = activityNote(deps, origin, what)
  const isDeleted = await deps.deletions.deleteOrganisation(id, name, deps.clock(), note)
  // Somebody has renamed or deleted it meanwhile.
  return isDeleted ? organisation : deleteOrganisation(deps, id, typedName, origin)
}

/** The organisation an operator named. `not_found` when there is none. */
export async function requireOrganisation(
  { organisations }: { organisations: OrganisationStore },
  id: string,
): Promise<Organisation> {
  const organisation = await organisations.find(id)
  if (organisation === null) throw new LetheError('not_found', `There is no organisation "${id}".`)
  return organisation
}
