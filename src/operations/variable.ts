import { commandLine, type Origin } from '../domain/activity.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import {
  checkVariables,
  compareVariables,
  readVariables,
  type VariableChange,
  type VariableStore,
  type Variables,
  type VariableVersion,
  variableSet,
} from '../domain/variable.ts'
import { activityNote } from './activity.ts'
import { requireTracker } from './tracker.ts'

interface VariableDeps {
  trackers: TrackerStore
  variables: VariableStore
}

interface ChangeDeps extends VariableDeps {
  clock: Clock
  randomness: Randomness
}

interface CurrentVariables {
  version: number
  variables: Variables
}

/** Throws `not_found` if the tracker is not visible. */
export async function currentVariables(
  deps: VariableDeps,
  trackerId: string,
  origin: Origin = commandLine,
): Promise<CurrentVariables> {
  await requireTracker(deps, trackerId, origin)
  const { version, document } = await deps.variables.current(trackerId)
  return { version, variables: readVariables(document) }
}

/** The versions that are kept, newest first. Throws `not_found` if the tracker is not visible. */
export async function listVariableVersions(
  deps: VariableDeps,
  trackerId: string,
  origin: Origin = commandLine,
): Promise<VariableVersion[]> {
  await requireTracker(deps, trackerId, origin)
  return deps.variables.listVersions(trackerId)
}

/** Throws `not_found` if the tracker is not visible or the version is not kept. */
export async function variablesAt(
  deps: VariableDeps,
  trackerId: string,
  version: number,
  origin: Origin = commandLine,
): Promise<CurrentVariables> {
  await requireTracker(deps, trackerId, origin)
  const found = await deps.variables.find(trackerId, version)
  if (found === null) throw new LetheError('not_found', `Version ${version} of these variables is not kept.`)
  return { version, variables: readVariables(found.document) }
}

export interface VariableEdit {
  /** The new variables, given the current ones. Adds a problem for an edit that is not possible. */
  apply(current: Variables, problems: Problems): Variables
  /** The version that the edit was made for; any if it fits every version. */
  basedOn?: number | undefined
}

interface EditedVariables {
  version: number
  changes: VariableChange[]
}

/**
 * Changes the variables of a tracker in one step. An edit that changes nothing adds no version. Throws
 * `validation_error` for invalid variables, or if there is a newer version than the edit was based on.
 */
export async function editVariables(
  deps: ChangeDeps,
  trackerId: string,
  { apply, basedOn }: VariableEdit,
  origin: Origin = commandLine,
): Promise<EditedVariables> {
  const { organisationId } = await requireTracker(deps, trackerId, origin)
  for (;;) {
    const problems = new Problems()
    const { version, document } = await deps.variables.current(trackerId)
    if (basedOn !== undefined && basedOn !== version) {
      problems.add('version', `the variables were changed meanwhile; the current version is ${version}`)
      problems.throwIfAny()
    }
    const before = readVariables(document)
    const after = apply(before, problems)
    checkVariables(after, problems)
    problems.throwIfAny()
    const changes = compareVariables(before, after)
    if (changes.length === 0) return { version, changes }
    const count = (kind: VariableChange['kind']) => changes.filter((change) => change.kind === kind).length
    const outcome = await deps.variables.add(
      { organisationId, trackerId },
      {
        version: version + 1,
        changedAt: deps.clock(),
        actor: origin.actor,
        added: count('added'),
        changed: count('changed'),
        removed: count('removed'),
      },
      variableSet(version + 1, after),
      activityNote(deps, origin, {
        organisationId,
        kind: 'variables.changed',
        target: `${trackerId}, version ${version + 1}`,
      }),
    )
    if (outcome === 'absent') throw notFound('This tracker')
    if (outcome === 'added') return { version: version + 1, changes }
    // Somebody else was faster: apply the edit to their version.
  }
}
