import type { Origin } from '../../domain/activity.ts'
import type {
  BatchLines,
  ErasureBatch,
  ErasureBatchStore,
  NewBatch,
  NewBatchItem,
} from '../../domain/erasure-batch.ts'
import { notFound } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { OrganisationView } from '../../domain/subject-search.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireBatch } from './change-batch.ts'
import { type PlanDeps, planBatch, type WantedBatch } from './plan-batch.ts'

export interface StartDeps extends PlanDeps {
  erasureBatches: ErasureBatchStore
  clock: Clock
  randomness: Randomness
}

/** How many batches of an organisation may wait or run at a time. */
const mostOpen = 5

/**
 * Looks for everybody on a list once more, and starts to erase them. `typedSubjects` is how many they are, as whoever confirmed it
 * typed it: `validation_error` when it is not so now, or when there is nobody to erase.
 */
export async function startBatch(
  deps: StartDeps,
  view: OrganisationView,
  wanted: WantedBatch,
  typedSubjects: number,
  origin: Origin,
): Promise<ErasureBatch> {
  const { organisationId } = view
  const plan = await planBatch(deps, view, wanted)
  const problems = new Problems()
  if (plan.subjects === 0) problems.add('text', 'text leads to nobody of whom anything is stored')
  else if (plan.subjects !== typedSubjects) {
    const now = `${plan.subjects} data ${plan.subjects === 1 ? 'subject' : 'subjects'}`
    problems.add('subjects', `the list leads to ${now} now, not to ${typedSubjects}; nothing was erased`)
  }
  if ((await deps.erasureBatches.countOpen(organisationId, 'list')) >= mostOpen)
    problems.add('text', `${mostOpen} batches are not over yet: wait for one of them, or stop it`)
  problems.throwIfAny()
  const { lines, nothing, invalid, repeated, empty, other, subjects, items } = plan
  const counts = { lines, nothing, invalid, repeated, empty, other, subjects }
  return beginBatch(deps, organisationId, counts, items, origin)
}

/** Stores a batch, which runs from then on. */
export async function beginBatch(
  deps: Pick<StartDeps, 'erasureBatches' | 'clock' | 'randomness'>,
  organisationId: string,
  what: BatchLines & Pick<NewBatch, 'subjects' | 'person'>,
  items: readonly NewBatchItem[],
  origin: Origin,
): Promise<ErasureBatch> {
  const id = `batch_${deps.randomness.base62(16)}`
  const note = activityNote(deps, origin, { organisationId, kind: 'batch.started', target: id })
  const { actor: startedBy } = origin
  const batch = { id, organisationId, startedBy, requestId: note.requestId, createdAt: deps.clock(), ...what }
  if (!(await deps.erasureBatches.create(batch, items, note))) throw notFound('This organisation')
  return requireBatch(deps, organisationId, id)
}
