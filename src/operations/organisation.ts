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
  requireTypedName,
} from '../domain/organisation.ts'
import { maxPageSize } from '../domain/page.ts'
import type { Randomness } from '../domain/randomness.ts'
import { isPlan, plans, type RetentionPolicy } from '../domain/retention.ts'
import type { SubjectPosition, SubjectStore } from '../domain/subject.ts'
import type { TrackerStore, TrackerView } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'

export const maxNameLength = 128

/** Throws `validation_error` for invalid values, including an ID that is taken. */
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
  // A new organisation has no data that a window could delete.
  const windows = { visitors: retentionDays[organisation.plan], activity: activityDays }
  if (!(await organisations.create(organisation, windows))) {
    const isThere = (await organisations.find(id)) !== null
    problems.add(
      'id',
      isThere
        ? `an organisation "${id}" already exists`
        : `"${id}" is the ID of a deleted organisation, whose activity log is kept; choose another ID`,
    )
  }
  problems.throwIfAny()
  return organisation
}

/** Throws `validation_error` if the name is invalid, and `not_found` if there is no such organisation. */
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
  /** Subjects that would be hidden completely, counted up to `maxCounted`. */
  subjects: number
  hasMoreSubjects: boolean
  /** Upper bounds from the daily totals, which include erased data. */
  atMost: SubjectCounts
}

/** Bounds the cost of counting. */
const maxCounted = 1_000

interface HiddenDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  dailyTotals: DailyTotalStore
}

/** Counts what a window that starts at `until` would hide. */
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
    hidden.subjects += await countLastSeen(deps, tracker, until, maxCounted - hidden.subjects)
    await nextTurn()
  }
  return { ...hidden, hasMoreSubjects: hidden.subjects >= maxCounted }
}

async function countLastSeen(
  { subjects }: HiddenDeps,
  tracker: TrackerView,
  lastSeenBefore: Instant,
  max: number,
): Promise<number> {
  let count = 0
  let after: SubjectPosition | null = null
  while (count < max) {
    const query = { sort: 'lastSeenAt', subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore } as const
    const limit = Math.min(maxPageSize, max - count)
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

/** Finds a deleted organisation whose trackers are not removed yet. */
async function findRemaining({ deletions }: { deletions: DeletionStore }, id: string) {
  const isLeft = (await deletions.listTrackers()).some(({ organisationId }) => organisationId === id)
  if (!isLeft) return null
  return (await deletions.listOrganisations()).find((organisation) => organisation.id === id) ?? null
}

/** Includes an organisation whose deletion was interrupted. Throws `not_found` if there is none. */
export async function requireDeletableOrganisation(
  deps: Pick<OrganisationDeletionDeps, 'organisations' | 'deletions'>,
  id: string,
): Promise<Organisation> {
  return (await findRemaining(deps, id)) ?? requireOrganisation(deps, id)
}

/**
 * Deletes an organisation with its keys, members and trackers. Throws `validation_error` unless `typedName`
 * is its name. Changes nothing if an earlier deletion was interrupted.
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
  requireTypedName(typedName, name, 'organisation', 'deleted')
  if (remaining) return organisation
  const what = { organisationId: id, kind: 'organisation.deleted', target: `${id}: ${name}` } as const
  const note = activityNote(deps, origin, what)
  const isDeleted = await deps.deletions.deleteOrganisation(id, name, deps.clock(), note)
  // It was renamed or deleted meanwhile.
  return isDeleted ? organisation : deleteOrganisation(deps, id, typedName, origin)
}

/** Throws `not_found` if there is no such organisation. */
export async function requireOrganisation(
  { organisations }: { organisations: OrganisationStore },
  id: string,
): Promise<Organisation> {
  const organisation = await organisations.find(id)
  if (organisation === null) throw new LetheError('not_found', `There is no organisation "${id}".`)
  return organisation
}
