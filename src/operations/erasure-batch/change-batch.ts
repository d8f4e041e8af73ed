import type { Origin } from '../../domain/activity.ts'
import type { BatchChange, ErasureBatch, ErasureBatchStore } from '../../domain/erasure-batch.ts'
import { LetheError, notFound } from '../../domain/errors.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'

const changes = {
  pause: { from: ['running'], to: 'paused', kind: 'batch.paused' },
  resume: { from: ['paused'], to: 'running', kind: 'batch.resumed' },
  stop: { from: ['running', 'paused'], to: 'stopped', kind: 'batch.stopped' },
} as const satisfies Record<string, BatchChange & { kind: string }>

export type BatchVerb = keyof typeof changes

export interface ChangeDeps {
  erasureBatches: ErasureBatchStore
  clock: Clock
  randomness: Randomness
}

/** The batch somebody named. `not_found` when the organisation has none with this id. */
export async function requireBatch(
  { erasureBatches }: { erasureBatches: ErasureBatchStore },
  organisationId: string,
  id: string,
): Promise<ErasureBatch> {
  const batch = await erasureBatches.find(organisationId, id)
  if (batch === null) throw notFound('This batch')
  return batch
}

/**
 * Pauses, resumes or stops a batch. What was erased stays erased; of those that waited in one that is stopped, the ids are gone.
 * `invalid_request` for one in another state.
 */
export async function changeBatch(
  deps: ChangeDeps,
  organisationId: string,
  id: string,
  verb: BatchVerb,
  origin: Origin,
): Promise<ErasureBatch> {
  const isChanged = await tryChange(deps, { id, organisationId }, verb, origin)
  const batch = await requireBatch(deps, organisationId, id)
  if (isChanged) return batch
  throw new LetheError('invalid_request', `This batch is ${batch.state}; nothing was changed.`)
}

/** The same; `false`, with nothing changed, for a batch that is not there or in another state. */
export function tryChange(
  deps: ChangeDeps,
  { id, organisationId }: Pick<ErasureBatch, 'id' | 'organisationId'>,
  verb: BatchVerb,
  origin: Origin,
): Promise<boolean> {
  const { kind, ...change } = changes[verb]
  const note = activityNote(deps, origin, { organisationId, kind, target: id })
  return deps.erasureBatches.change({ id, organisationId }, change, deps.clock(), note)
}
