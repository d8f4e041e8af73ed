import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin, SubjectCounts } from '../domain/activity.ts'
import type {
  BatchChange,
  BatchItem,
  BatchLines,
  BatchOutcome,
  ErasureBatch,
  ErasureBatchStore,
  NewBatch,
  NewBatchItem,
} from '../domain/erasure-batch.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type LedgerStore, openHead } from '../domain/ledger.ts'
import type { TreeHead } from '../domain/merkle-tree.ts'
import { maxPageSize } from '../domain/page.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from './activity.ts'
import { type PlanDeps, planBatch, type WantedBatch } from './plan-erasure-batch.ts'
import { certifyEntry, type EntryCertificate, reissueReceipt } from './receipt.ts'

export interface StartDeps extends PlanDeps {
  erasureBatches: ErasureBatchStore
  clock: Clock
  randomness: Randomness
}

/** The maximum number of open batches per organisation. */
const maxOpen = 5

/**
 * Searches for everyone on a list again and starts to erase them. Throws `validation_error` if there is
 * nobody to erase, or if `typedSubjects`, the number typed to confirm, is no longer right.
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
  if (plan.subjects === 0) problems.add('text', 'no stored data matches the list')
  else if (plan.subjects !== typedSubjects) {
    const now = `${plan.subjects} data ${plan.subjects === 1 ? 'subject' : 'subjects'}`
    problems.add('subjects', `the list now matches ${now}, not ${typedSubjects}; nothing was erased`)
  }
  if ((await deps.erasureBatches.countOpen(organisationId, 'list')) >= maxOpen)
    problems.add('text', `${maxOpen} batches are in progress; wait until one has finished, or stop one`)
  problems.throwIfAny()
  const { lines, nothing, invalid, repeated, empty, other, subjects, items } = plan
  const counts = { lines, nothing, invalid, repeated, empty, other, subjects }
  return beginBatch(deps, organisationId, counts, items, origin)
}

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

const changes = {
  pause: { from: ['running'], to: 'paused', kind: 'batch.paused' },
  resume: { from: ['paused'], to: 'running', kind: 'batch.resumed' },
  stop: { from: ['running', 'paused'], to: 'stopped', kind: 'batch.stopped' },
} as const satisfies Record<string, BatchChange & { kind: string }>

export type BatchVerb = keyof typeof changes

interface ChangeDeps {
  erasureBatches: ErasureBatchStore
  clock: Clock
  randomness: Randomness
}

/** Throws `not_found` if the organisation has no such batch. */
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
 * Pauses, resumes or stops a batch. Erased data stays erased; stopping deletes the IDs of waiting subjects.
 * Throws `invalid_request` if the batch is in another state.
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

/** Returns `false` if the batch does not exist or is in another state. */
function tryChange(
  deps: ChangeDeps,
  { id, organisationId }: Pick<ErasureBatch, 'id' | 'organisationId'>,
  verb: BatchVerb,
  origin: Origin,
): Promise<boolean> {
  const { kind, ...change } = changes[verb]
  const note = activityNote(deps, origin, { organisationId, kind, target: id })
  return deps.erasureBatches.change({ id, organisationId }, change, deps.clock(), note)
}

/** Stops all batches created before an instant that have not ended. Returns how many. */
export async function stopOpenBatches(
  deps: ChangeDeps,
  before: Instant,
  originOf: (batch: ErasureBatch) => Origin,
): Promise<number> {
  let stopped = 0
  for (;;) {
    const open = await deps.erasureBatches.listOverdue(before)
    if (open.length === 0) return stopped
    for (const batch of open) {
      // A batch that ended meanwhile is not listed again.
      if (await tryChange(deps, batch, 'stop', originOf(batch))) stopped += 1
    }
  }
}

/** The outcome of a line, or of one of its subjects. */
export interface ReportedItem {
  line: number
  outcome: BatchOutcome
  trackerId: string | null
  erasure: { alreadyErased: boolean; counts: SubjectCounts; erasedAt: Instant; receipt: string } | null
}

interface ReportDeps {
  erasureBatches: ErasureBatchStore
  ledger: LedgerStore
  keyring: Keyring
}

/** The items of a batch in order, page by page, with receipts against the current ledger. */
export async function* reportBatch(
  deps: ReportDeps,
  { id, organisationId }: ErasureBatch,
): AsyncGenerator<ReportedItem[]> {
  let after = -1
  for (;;) {
    const items = await deps.erasureBatches.items(id, after, maxPageSize)
    // Read after the items, so that it covers their entries.
    const head = openHead(deps.keyring.headKeys, organisationId, await deps.ledger.head(organisationId))
    if (items.length > 0) yield Promise.all(items.map((item) => reportItem(deps, organisationId, head, item)))
    const last = items.at(-1)
    if (!last || items.length < maxPageSize) return
    after = last.position
  }
}

async function reportItem(
  deps: ReportDeps,
  organisationId: string,
  head: TreeHead,
  { line, outcome, trackerId, erasure }: BatchItem,
): Promise<ReportedItem> {
  if (erasure === null) return { line, outcome, trackerId, erasure }
  const { record, receipt } = await reissueReceipt(deps, organisationId, head, erasure)
  if (record.version !== 1) throw new Error('A batch item does not match its ledger entry.')
  const { alreadyErased, counts, erasedAt } = record
  return { line, outcome, trackerId, erasure: { alreadyErased, counts, erasedAt, receipt } }
}

const certifiedTogether = 50

/** A page of a batch's certificate: its erasures, and counts of items with other outcomes. */
interface CertifiedPage {
  certificates: EntryCertificate[]
  waiting: number
  gone: number
  stopped: number
  nextPlace: number | null
}

export async function certifyBatch(
  deps: ReportDeps & Parameters<typeof certifyEntry>[0],
  { id, organisationId }: ErasureBatch,
  after: number,
): Promise<CertifiedPage> {
  const items = await deps.erasureBatches.items(id, after, certifiedTogether)
  const certificates: EntryCertificate[] = []
  for (const { erasure } of items) {
    if (!erasure) continue
    certificates.push(await certifyEntry(deps, { id: organisationId }, erasure.ledgerIndex))
    await nextTurn()
  }
  const count = (outcome: BatchOutcome) => items.filter((item) => item.outcome === outcome).length
  const nextPlace = items.length < certifiedTogether ? null : (items.at(-1)?.position ?? null)
  return {
    ...{ certificates, waiting: count('waiting'), gone: count('gone'), stopped: count('stopped') },
    nextPlace,
  }
}
