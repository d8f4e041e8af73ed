import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SubjectCounts } from '../domain/activity.ts'
import type { Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type LedgerStore, openHead } from '../domain/ledger.ts'
import type { TreeHead } from '../domain/merkle-tree.ts'
import { maxPageSize } from '../domain/page.ts'
import type {
  PrivacyRequest,
  PrivacyRequestStore,
  RequestItem,
  RequestOutcome,
} from '../domain/privacy-request.ts'
import type { FairQueue } from '../domain/semaphore.ts'
import { certifyEntry, type EntryCertificate, reissueReceipt } from './receipt.ts'

interface CertifyDeps {
  privacyRequests: PrivacyRequestStore
  ledger: LedgerStore
  keyring: Keyring
  jobs: FairQueue
}

/** An entry of the ledger that a request caused, with its receipt. */
export type CertifiedEntry = { index: number; receipt: string } & (
  | { kind: 'erasure'; trackerId: string; erasedAt: Instant; alreadyErased: boolean; counts: SubjectCounts }
  | { kind: 'nothing-held'; name: string; checkedAt: Instant }
)

/** Whether everything that a request is about has an entry, and nothing is left. */
export async function isComplete(
  { privacyRequests }: Pick<CertifyDeps, 'privacyRequests'>,
  request: PrivacyRequest,
): Promise<boolean> {
  if (request.state !== 'done' || (request.left ?? 0) > 0) return false
  return (await privacyRequests.countUnproven(request)) === 0
}

/**
 * Passes the entries of a request to `take`, in order, with receipts against the current ledger. Erasures
 * come first. Aborting the signal cancels it while it waits for others; if `take` throws, it ends.
 */
export async function certifyRequest(
  deps: CertifyDeps,
  request: PrivacyRequest,
  take: (entry: CertifiedEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const certify = async (giveWay: () => Promise<void>) => {
    for await (const entry of certifiedEntries(deps, request, giveWay)) await take(entry)
  }
  await deps.jobs.run(request.organisationId, certify, signal)
}

/** The entries of a request, as a part of a job. */
export async function* certifiedEntries(
  deps: Omit<CertifyDeps, 'jobs'>,
  request: PrivacyRequest,
  giveWay: () => Promise<void>,
): AsyncGenerator<CertifiedEntry> {
  const { organisationId } = request
  let after = -1
  for (;;) {
    const items = await deps.privacyRequests.items(request, after, maxPageSize)
    // Read after the items, so that it covers their entries.
    const head = openHead(deps.keyring.headKeys, organisationId, await deps.ledger.head(organisationId))
    for (const item of items) {
      const entry = await certifyItem(deps, organisationId, head, item)
      if (entry) yield entry
      await nextTurn()
    }
    await giveWay()
    const last = items.at(-1)
    if (!last || items.length < maxPageSize) return
    after = last.position
  }
}

async function certifyItem(
  deps: Omit<CertifyDeps, 'jobs'>,
  organisationId: string,
  head: TreeHead,
  { entry, identifier }: RequestItem,
): Promise<CertifiedEntry | null> {
  if (entry === null) return null
  const { record, receipt } = await reissueReceipt(deps, organisationId, head, entry)
  const proven = { index: entry.ledgerIndex, receipt }
  if (record.version === 2)
    return { kind: 'nothing-held', name: identifier ?? '', checkedAt: record.checkedAt, ...proven }
  const { trackerId, erasedAt, alreadyErased, counts } = record
  return { kind: 'erasure', trackerId, erasedAt, alreadyErased, counts, ...proven }
}

const certifiedTogether = 50

/** A page of a request's certificate: its entries, and counts of subjects with other outcomes. */
interface CertifiedPage {
  certificates: EntryCertificate[]
  waiting: number
  gone: number
  stopped: number
  nextPlace: number | null
}

/** The items after a position (-1 for all), each with everything that a page needs to verify its entry. */
export async function certifyRequestPage(
  deps: Pick<CertifyDeps, 'privacyRequests'> & Parameters<typeof certifyEntry>[0],
  request: PrivacyRequest,
  after: number,
): Promise<CertifiedPage> {
  const items = await deps.privacyRequests.items(request, after, certifiedTogether)
  const certificates: EntryCertificate[] = []
  for (const { entry } of items) {
    if (!entry) continue
    certificates.push(await certifyEntry(deps, { id: request.organisationId }, entry.ledgerIndex))
    await nextTurn()
  }
  const count = (outcome: RequestOutcome) => items.filter((item) => item.outcome === outcome).length
  const nextPlace = items.length < certifiedTogether ? null : (items.at(-1)?.position ?? null)
  return {
    ...{ certificates, waiting: count('waiting'), gone: count('gone'), stopped: count('stopped') },
    nextPlace,
  }
}
