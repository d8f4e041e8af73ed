import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin } from '../domain/activity.ts'
import { invalidField, notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { LedgerStore } from '../domain/ledger.ts'
import { maxPageSize } from '../domain/page.ts'
import type { PrivacyRequest, PrivacyRequestQuery, PrivacyRequestStore } from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import { type RequestGroup, type RequestGroupStore, requestsPerTransaction } from '../domain/request-group.ts'
import type { RequestHandlingStore } from '../domain/request-handling.ts'
import type { FairQueue } from '../domain/semaphore.ts'
import { activityNote } from './activity.ts'
import { type CertifiedEntry, certifiedEntries } from './certify-privacy-request.ts'
import { startErasures } from './change-privacy-request.ts'
import { journalClosings } from './journal-closing.ts'

export interface GroupDeps {
  privacyRequests: PrivacyRequestStore
  requestHandling: RequestHandlingStore
  journal?: Journal | undefined
  requestGroups: RequestGroupStore
  clock: Clock
  randomness: Randomness
  jobs: FairQueue
}

/** Throws `not_found` if the organisation has no request with this reference. */
export async function requireGroup(
  { requestGroups }: Pick<GroupDeps, 'requestGroups'>,
  organisationId: string,
  reference: string,
  memberId?: string,
): Promise<RequestGroup> {
  const group = await requestGroups.find(organisationId, reference, memberId)
  if (group === null) throw notFound('This reference')
  return group
}

/** Starts all open erasure requests. Throws `validation_error` if their number is no longer `typed`. */
export async function startGroup(
  deps: GroupDeps,
  organisationId: string,
  reference: string,
  typed: number,
  origin: Origin,
): Promise<void> {
  await requireGroup(deps, organisationId, reference)
  const startable: GroupFilter = {
    ...{ reference, kind: 'erasure', state: 'open' },
    isChosen: ({ approval }) => approval === null,
  }
  const check = (count: number) => {
    if (count === typed) return
    throw invalidField(
      'requests',
      `the number of open requests is ${count} now, not ${typed}; nothing was erased`,
    )
  }
  let started = 0
  await changeAll(deps, organisationId, startable, check, async (requests) => {
    started += (await startErasures(deps, requests, origin, { people: typed, started })).started
  })
}

/**
 * Cancels all requests that are not closed. What was erased stays erased. Throws `validation_error` if the
 * number of all requests with this reference, which is the same while they end, is no longer `confirmed`.
 */
export async function cancelGroup(
  deps: GroupDeps,
  organisationId: string,
  reference: string,
  confirmed: number,
  origin: Origin,
): Promise<void> {
  await requireGroup(deps, organisationId, reference)
  const check = async () => {
    const { counts } = await requireGroup(deps, organisationId, reference)
    const total = Object.values(counts).reduce((sum, each) => sum + each, 0)
    if (total === confirmed) return
    throw invalidField(
      'requests',
      `the number of requests with this reference is ${total} now, not ${confirmed}; nothing was cancelled`,
    )
  }
  const notClosed = { reference, kind: null, state: 'pending' } as const
  await changeAll(deps, organisationId, notClosed, check, async (requests) => {
    const closings = requests.map(({ id }) => ({
      ref: { organisationId, id },
      note: activityNote(deps, origin, { organisationId, kind: 'request.cancelled', target: id }),
    }))
    const closing = { from: ['open', 'running'], to: 'cancelled', rejectionReason: null } as const
    await deps.requestGroups.close(closings, { ...closing, now: deps.clock() })
    await journalClosings(
      deps,
      closings.map(({ ref }) => ref),
    )
  })
}

interface GroupFilter extends Pick<PrivacyRequestQuery, 'reference' | 'kind' | 'state'> {
  /** All by default. */
  isChosen?(request: PrivacyRequest): boolean
}

/** Without the person, because there can be many. */
export type CountedRequest = Pick<PrivacyRequest, 'organisationId' | 'id' | 'found'>

/**
 * Reads all requests that match, and passes their number to `check`, which may refuse it. Then changes these
 * requests, a few in each transaction, and none that is stored meanwhile.
 */
export function changeAll(
  deps: GroupDeps,
  organisationId: string,
  { isChosen = () => true, ...filter }: GroupFilter,
  check: (count: number) => void | Promise<void>,
  change: (requests: readonly CountedRequest[]) => Promise<unknown>,
): Promise<void> {
  return deps.jobs.run(organisationId, async (giveWay) => {
    const counted: CountedRequest[] = []
    let after: PrivacyRequestQuery['after'] = null
    do {
      const query = { ...filter, limit: requestsPerTransaction, after, dueBefore: null }
      const page = await deps.privacyRequests.list(organisationId, query)
      for (const request of page.rows)
        if (isChosen(request)) counted.push({ organisationId, id: request.id, found: request.found })
      after = page.next
      await nextTurn()
      await giveWay()
    } while (after !== null)
    await check(counted.length)
    for (const some of chunksOf(counted)) {
      await change(some)
      await nextTurn()
      await giveWay()
    }
  })
}

/** As many as one transaction changes. */
export function chunksOf<Item>(items: readonly Item[]): Item[][] {
  const chunks: Item[][] = []
  for (let at = 0; at < items.length; at += requestsPerTransaction)
    chunks.push(items.slice(at, at + requestsPerTransaction))
  return chunks
}

/** A request in a report. Whom it was about is not stored after it is closed. */
export interface ReportedRequest {
  request: PrivacyRequest
  entries: CertifiedEntry[]
}

interface ReportDeps extends GroupDeps {
  ledger: LedgerStore
  keyring: Keyring
}

/** Passes each request to `take`, with what it has proven so far. Aborting the signal ends it. */
export function reportGroup(
  deps: ReportDeps,
  { reference }: RequestGroup,
  organisationId: string,
  take: (reported: ReportedRequest) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  return deps.jobs.run(
    organisationId,
    async (giveWay) => {
      let after: PrivacyRequestQuery['after'] = null
      do {
        const filter = { reference, kind: null, state: null, dueBefore: null }
        const page = await deps.privacyRequests.list(organisationId, { ...filter, limit: maxPageSize, after })
        for (const request of page.rows) {
          const entries: CertifiedEntry[] = []
          for await (const entry of certifiedEntries(deps, request, giveWay)) entries.push(entry)
          await take({ request, entries })
        }
        after = page.next
      } while (after !== null)
    },
    signal,
  )
}
