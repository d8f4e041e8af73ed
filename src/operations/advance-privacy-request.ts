import { addCounts, type Origin } from '../domain/activity.ts'
import type { Clock } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import type {
  PrivacyRequest,
  PrivacyRequestRef,
  PrivacyRequestStore,
  RequestSearch,
} from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from './activity.ts'
import type { FoundPerson } from './find-person.ts'
import { finishRequest } from './finish-privacy-request.ts'
import { countFound, type RequestSearchDeps, searchRequest } from './search-request.ts'

interface AdvanceDeps extends RequestSearchDeps {
  privacyRequests: PrivacyRequestStore
  journal?: Journal | undefined
  clock: Clock
  randomness: Randomness
}

/**
 * Continues the erasure of a request in which no subject waits. Searches for the person first, and once more
 * after everyone was erased, for those who came back meanwhile. The third search only counts who is left, and
 * ends the request. `closed` if the request, or the lease, has ended otherwise.
 */
export async function advanceRequest(
  deps: AdvanceDeps,
  leaseOwner: string,
  view: OrganisationView,
  ref: PrivacyRequestRef,
  origin: Origin,
): Promise<'continues' | 'done' | 'closed'> {
  const request = await deps.privacyRequests.find(ref)
  if (request?.state !== 'running' || request.person === null) return 'closed'
  const { person, searches } = request
  const checkedAt = deps.clock()
  const found = await searchRequest(deps, view, { ...request, person })
  const left = found.subjects.length + found.hidden.length
  const heldIdentifiers = [...new Set([...request.heldIdentifiers, ...found.heldIdentifiers])]
  if (searches === 0 || (searches === 1 && left > 0)) {
    const search = { ...toSearch(request, found), heldIdentifiers, now: checkedAt }
    return (await deps.privacyRequests.addSubjects(leaseOwner, ref, searches, search))
      ? 'continues'
      : 'closed'
  }
  const nothingHeld = person.identifiers.filter((_, position) => !heldIdentifiers.includes(position))
  const end = { lease: { leaseOwner, searches }, found: null, left, nothingHeld, checkedAt }
  const what = {
    organisationId: request.organisationId,
    kind: 'request.finished',
    target: request.id,
  } as const
  return (await finishRequest(deps, request, end, activityNote(deps, origin, what))) ? 'done' : 'closed'
}

/** Subjects about which nothing is stored are erased too, once, so that there is an entry for each. */
function toSearch(
  request: PrivacyRequest,
  found: FoundPerson,
): Pick<RequestSearch, 'subjects' | 'found' | 'isComplete'> {
  const isFirst = request.searchedAt === null
  const held = [...found.subjects, ...found.hidden].map((each) => ({ ...each, isHeld: true }))
  const missing = isFirst ? found.missing.map((each) => ({ ...each, isHeld: false })) : []
  const counts = countFound(found)
  if (!isFirst) addCounts(counts, request.found)
  return {
    subjects: [...held, ...missing],
    found: counts,
    // With nothing to erase, another search would find the same.
    isComplete: found.isComplete || held.length === 0,
  }
}
