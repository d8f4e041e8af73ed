import { commandLine, type Origin } from '../../domain/activity.ts'
import {
  type ApiKey,
  type ApiKeyStore,
  apiKeyState,
  keyNotActive,
  maxKeyNameLength,
} from '../../domain/api-key.ts'
import type { Clock } from '../../domain/instant.ts'
import { checkName } from '../../domain/name.ts'
import { Problems } from '../../domain/problems.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { activityNote } from '../activity/activity-note.ts'
import { requireKey } from './require-key.ts'

/**
 * Gives an active key another name; its string and its budgets stay. `validation_error` for a name that will not do or that another
 * active key has, `invalid_request` for a key that is not active.
 */
export async function renameKey(
  deps: { apiKeys: ApiKeyStore; clock: Clock; randomness: Randomness },
  id: string,
  name: string,
  origin: Origin = commandLine,
): Promise<ApiKey> {
  const now = deps.clock()
  const problems = new Problems()
  checkName(name, maxKeyNameLength, problems)
  problems.throwIfAny()
  const key = await requireKey(deps, id, origin)
  if (apiKeyState(key, now) !== 'active') throw keyNotActive(key, now)
  if (key.name === name) return key
  const { organisationId } = key
  const target = `${key.name} → ${name}`
  const note = activityNote(deps, origin, { organisationId, kind: 'key.renamed', target })
  const outcome = await deps.apiKeys.rename(key, name, now, note)
  if (outcome === 'taken') {
    problems.add('name', `the organisation has an active key named "${name}" already`)
    problems.throwIfAny()
  }
  const renamed = await requireKey(deps, id)
  if (outcome === 'absent') throw keyNotActive(renamed, now)
  return renamed
}
