import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin } from '../domain/activity.ts'
import { invalidField, notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { startErasures } from './change-privacy-request.ts'
import { newRequest } from './create-privacy-request.ts'
import {
  type ListedPerson,
  type Pause,
  type PlanDeps,
  planList,
  type WantedList,
} from './plan-erasure-list.ts'
import { chunksOf } from './request-group.ts'

interface ErasureListDeps extends PlanDeps {
  clock: Clock
  randomness: Randomness
}

/**
 * Creates an erasure request for each person on a list and starts them once all are stored; goes on if the
 * client disconnects, and continues if the same list is sent again after an interruption. Throws
 * `validation_error` as `previewList` does, if nobody matches, or if `typedSubjects` is no longer right.
 */
export function startErasureList(
  deps: ErasureListDeps,
  view: OrganisationView,
  wanted: WantedList,
  typedSubjects: number,
  origin: Origin,
): Promise<void> {
  const { organisationId } = view
  return deps.jobs.run(organisationId, async (giveWay) => {
    const pause = async () => {
      await nextTurn()
      await giveWay()
    }
    const { people, found, begun } = await planList(deps, view, wanted, pause)
    const isRepeated = begun > 0 && found.subjects + begun === typedSubjects
    if (people.length === 0 && !isRepeated) throw invalidField('text', 'no stored data matches the list')
    if (found.subjects !== typedSubjects && !isRepeated) {
      const now = `${found.subjects} data ${found.subjects === 1 ? 'subject' : 'subjects'}`
      throw invalidField(
        'subjects',
        `the list now matches ${now}, not ${typedSubjects}; no erasure was started`,
      )
    }
    // Neighbours in every index, so that a transaction writes few pages.
    people.sort((a, b) => (a.requestId < b.requestId ? -1 : 1))
    await createAll(deps, organisationId, wanted.reference, people, origin, pause)
    let started = 0
    for (const some of chunksOf(people)) {
      const open = some.map(({ requestId: id, found }) => ({ organisationId, id, found }))
      started += (await startErasures(deps, open, origin, { people: people.length, started })).started
      await pause()
    }
  })
}

/** Stores open requests, which all have the same instants. */
async function createAll(
  deps: ErasureListDeps,
  organisationId: string,
  reference: string,
  people: readonly ListedPerson[],
  origin: Origin,
  pause: Pause,
): Promise<void> {
  const now = deps.clock()
  for (const some of chunksOf(people.filter(({ isCreated }) => !isCreated))) {
    const creations = some.map(({ line, ...person }) => {
      const wanted = { ...person, kind: 'erasure', receivedAt: null, reference, listLine: line } as const
      return newRequest(deps, organisationId, wanted, now, origin)
    })
    if (!(await deps.requestGroups.create(organisationId, creations))) throw notFound('This organisation')
    await pause()
  }
}
