import type { JournalledClosing } from '../domain/closed-request.ts'
import type { Journal, KnownChanges } from '../domain/journal.ts'
import type {
  ClosedPosition,
  CreatedRef,
  PrivacyRequest,
  PrivacyRequestRef,
} from '../domain/privacy-request.ts'
import type { Store } from '../domain/store.ts'

type Source = Pick<Store, 'privacyRequests' | 'requestHandling'>

/** A line stays far below what a journal's reader accepts. */
const lineItems = 500
const pageRequests = 500

/**
 * Appends the closings of requests to the journal, which must survive the loss of the store. If it cannot be
 * written, all of them wait for the next write before this rejects.
 */
export async function journalClosings(
  deps: Source & { journal?: Journal | undefined },
  refs: readonly PrivacyRequestRef[],
): Promise<void> {
  const { journal } = deps
  if (!journal) return
  const failures: unknown[] = []
  for (const ref of refs)
    for await (const line of readClosing(deps, ref))
      await journal.append([line]).catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** The closings in a store that a journal lacks. */
export async function* readClosings(store: Source, known: KnownChanges): AsyncGenerator<JournalledClosing> {
  for await (const ref of listClosed(store)) if (!known.hasClosing(ref)) yield* readClosing(store, ref)
}

/** All closed requests of a store. */
export async function* listClosed({
  privacyRequests,
}: Pick<Store, 'privacyRequests'>): AsyncGenerator<CreatedRef> {
  let after: ClosedPosition | null = null
  do {
    const page: (ClosedPosition & CreatedRef)[] = await privacyRequests.listClosed(after, pageRequests)
    yield* page
    after = page.length < pageRequests ? null : (page.at(-1) ?? null)
  } while (after !== null)
}

async function* readClosing(
  { privacyRequests, requestHandling }: Source,
  ref: PrivacyRequestRef,
): AsyncGenerator<JournalledClosing> {
  const request = await privacyRequests.find(ref)
  // It may have been swept meanwhile.
  if (request === null || request.closedAt === null) return
  const { organisationId, id } = request
  const closing = { kind: 'closing', organisationId, id, at: request.closedAt } as const
  const exclusions = await requestHandling.exclusions(ref)
  const whole = { ...closing, request: toClosed(request, await requestHandling.personDigests(ref)) }
  let after = -1
  for (let from = 0, isLast = false; !isLast; from += lineItems) {
    const found = await privacyRequests.items(ref, after, lineItems + 1)
    isLast = found.length <= lineItems
    const items = found.slice(0, lineItems)
    // Positions may have gaps, which the journal does not have.
    after = items.at(-1)?.position ?? after
    yield { ...whole, exclusions: from === 0 ? exclusions : null, from, items, isLast }
  }
}

function toClosed(
  request: PrivacyRequest,
  personDigests: readonly Uint8Array[],
): JournalledClosing['request'] {
  const { state } = request
  if (state === 'open' || state === 'running')
    throw new Error(`The request ${request.id} has the state ${state} although it is closed.`)
  const { kind, reference, receivedAt, dueAt, extendedAt, extensionReason, rejectionReason } = request
  const { namesIdentifiers, contentDigest, createdAt, createdBy, startedBy, requestId } = request
  const { found, erased, left, assigneeId, listLine } = request
  return {
    ...{ kind, state, reference, receivedAt, dueAt, extendedAt, extensionReason, rejectionReason },
    ...{ namesIdentifiers, contentDigest, createdAt, createdBy, startedBy, requestId },
    ...{ found, erased, left, assigneeId, listLine, personDigests },
  }
}
