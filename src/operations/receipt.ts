import type { ActivityStore } from '../domain/activity.ts'
import type { BatchOfEntry, ErasureBatchStore } from '../domain/erasure-batch.ts'
import { notFound, type Problems } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type LedgerStore, openHead, type TombstoneQuery, type TombstoneStore } from '../domain/ledger.ts'
import type { MaintenanceStore } from '../domain/maintenance.ts'
import type { Organisation } from '../domain/organisation.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, maxPageBytes, readCursor } from '../domain/page.ts'
import type { PrivacyRequestStore } from '../domain/privacy-request.ts'
import { type ErasureRecord, formatReceipt, parseRecord } from '../domain/receipt.ts'
import type { TrackerRef, TrackerStore } from '../domain/tracker.ts'
import { describeErasure, type LedgerErasure } from './erasure.ts'
import { type ProvenEntry, proveEntry, proveInclusion, readLedger } from './ledger.ts'

interface ReceiptListOptions {
  limit?: number
  cursor?: string
}

export interface Receipt extends Pick<ErasureRecord, 'alreadyErased' | 'counts' | 'erasedAt'> {
  receipt: string
}

interface ReceiptDeps {
  trackers: TrackerStore
  tombstones: TombstoneStore
  ledger: LedgerStore
  keyring: Keyring
}

export function planReceiptList(
  trackerId: string,
  subjectId: string,
  { limit = defaultPageSize, cursor }: ReceiptListOptions,
  problems: Problems,
): TombstoneQuery {
  const isClear = !problems.has('trackerId', 'subjectId')
  const position = readCursor(isClear ? identityOf(trackerId, subjectId) : null, cursor, problems)
  return { limit, before: position === null ? null : position.at }
}

/** Newest first, while tombstones are kept. Throws `not_found` if the tracker is not visible. */
export async function listReceipts(
  deps: ReceiptDeps,
  tracker: TrackerRef,
  subjectId: string,
  { limit, before }: TombstoneQuery,
): Promise<{ receipts: Receipt[]; nextCursor: string | null }> {
  const { trackerId, organisationId } = tracker
  const owner = await deps.trackers.find(trackerId)
  if (owner?.organisationId !== organisationId) throw notFound('This tracker')
  const digests = deps.keyring.tombstoneDigests(trackerId, subjectId)
  const found = await deps.tombstones.find(tracker, digests, { limit: limit + 1, before })
  const indexes = found.slice(0, limit).map(({ ledgerIndex }) => ledgerIndex)
  const made = await makeReceipts(deps, tracker, subjectId, indexes)
  const receipts = made.slice(0, howManyFit(made))
  const last = indexes[receipts.length - 1]
  const isLast = receipts.length === found.length || last === undefined
  return {
    receipts,
    nextCursor: isLast ? null : encodeCursor(identityOf(trackerId, subjectId), last, 'receipt'),
  }
}

/** Reads the head after the entries, so that it covers them. */
async function makeReceipts(
  { ledger, keyring }: ReceiptDeps,
  { trackerId, organisationId }: TrackerRef,
  subjectId: string,
  indexes: readonly number[],
): Promise<Receipt[]> {
  if (indexes.length === 0) return []
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const checkpoint = keyring.signCheckpoint(organisationId, head)
  return Promise.all(
    indexes.map(async (index) => {
      const [[entry], path] = await Promise.all([
        ledger.list(organisationId, index, 1),
        proveInclusion(ledger, organisationId, index, head),
      ])
      const erasure = entry?.index === index ? parseRecord(entry.record) : null
      const nonce = erasure && keyring.nonceOf(trackerId, subjectId, erasure)
      if (!entry || !nonce) throw new Error('A tombstone does not match its ledger entry.')
      const receipt = formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint)
      const { alreadyErased, counts, erasedAt } = erasure
      return { alreadyErased, counts, erasedAt, receipt }
    }),
  )
}

/** A page has at least one receipt. */
function howManyFit(receipts: readonly Receipt[]): number {
  let bytes = 0
  const tooMany = receipts.findIndex(({ receipt }, i) => {
    bytes += receipt.length + bytesBesideReceipt
    return bytes > maxPageBytes && i > 0
  })
  return tooMany === -1 ? receipts.length : tooMany
}

const bytesBesideReceipt = 256

function identityOf(trackerId: string, subjectId: string): ListIdentity {
  return ['receipts', trackerId, subjectId]
}

/** `null` if the entry is about another subject. Throws `not_found` if there is no such entry. */
export async function proveReceipt(
  { ledger, keyring }: { ledger: LedgerStore; keyring: Keyring },
  organisationId: string,
  { index, subjectId }: { index: number; subjectId: string },
): Promise<string | null> {
  const [entry] = await ledger.list(organisationId, index, 1)
  const record = entry?.index === index ? parseRecord(entry.record) : null
  if (!entry || !record) throw notFound('This entry of the ledger')
  const nonce = keyring.nonceOf(record.trackerId, subjectId, record)
  if (nonce === null) return null
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const path = await proveInclusion(ledger, organisationId, index, head)
  const checkpoint = keyring.signCheckpoint(organisationId, head)
  return formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint)
}

/** Proves an erasure without identifying the subject. */
export interface ErasureCertificate extends Pick<ProvenEntry, 'record' | 'proof' | 'checkpoint'> {
  erasure: LedgerErasure
  /** `null` if the erasure was not part of a batch. */
  batch: BatchOfEntry['batch'] | null
  verifierKeys: string[]
  trackerName: string | null
  scrub: { lastAt: Instant; reachesEveryByte: boolean }
  /** Only for an erasure by a batch or a request, which stores the encrypted nonce; otherwise `null`. */
  receipt: string | null
}

interface CertifyDeps {
  ledger: LedgerStore
  activity: ActivityStore
  erasureBatches: ErasureBatchStore
  privacyRequests: PrivacyRequestStore
  trackers: TrackerStore
  maintenance: MaintenanceStore
  keyring: Keyring
}

/** Throws `not_found` if there is no entry at this index. */
export async function certifyErasure(
  deps: CertifyDeps,
  organisation: Pick<Organisation, 'id'>,
  index: number,
): Promise<ErasureCertificate> {
  const entry = await proveEntry(deps, organisation.id, index)
  const { record, proof, checkpoint } = entry
  const [erasure, [inBatch], [inRequest], { verifierKeys }, { lastAt }] = await Promise.all([
    describeErasure(deps, organisation.id, entry),
    deps.erasureBatches.ofEntries(organisation.id, [index]),
    deps.privacyRequests.ofEntries(organisation.id, [index]),
    readLedger(deps, organisation.id),
    deps.maintenance.scrubState(),
  ])
  const tracker = await deps.trackers.find(erasure.record.trackerId)
  const sealed = inBatch ?? inRequest
  const nonce = sealed && deps.keyring.openNonce(sealed.sealedNonce, erasure.record.subject)
  return {
    ...{ erasure, record, proof, checkpoint, verifierKeys, batch: inBatch?.batch ?? null },
    trackerName: tracker?.organisationId === organisation.id ? tracker.name : null,
    scrub: { lastAt, reachesEveryByte: deps.maintenance.scrubsEveryByte },
    receipt: nonce ? formatReceipt({ nonce, record }, { index, path: proof }, checkpoint) : null,
  }
}
