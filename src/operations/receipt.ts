import type { ActivityStore } from '../domain/activity.ts'
import { notFound, type Problems } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { type LedgerStore, openHead, type TombstoneQuery, type TombstoneStore } from '../domain/ledger.ts'
import {
  commitmentOf,
  type ErasureRecord,
  type LedgerRecord,
  parseErasureRecord,
  parseRecord,
} from '../domain/ledger-record.ts'
import type { MaintenanceStore } from '../domain/maintenance.ts'
import type { TreeHead } from '../domain/merkle-tree.ts'
import type { Organisation } from '../domain/organisation.ts'
import { defaultPageSize, encodeCursor, howManyFit, type ListIdentity, readCursor } from '../domain/page.ts'
import type { NamedRequest, PrivacyRequestStore } from '../domain/privacy-request.ts'
import { formatReceipt } from '../domain/receipt.ts'
import type { Sought } from '../domain/subject-search.ts'
import type { TrackerRef, TrackerStore } from '../domain/tracker.ts'
import { type DescribedEntry, describeEntry } from './erasure.ts'
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
  const fit = howManyFit(made, ({ receipt }) => receipt.length + bytesBesideReceipt)
  const receipts = made.slice(0, fit)
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
      const erasure = entry?.index === index ? parseErasureRecord(entry.record) : null
      const nonce = erasure && keyring.nonceOf(trackerId, subjectId, erasure)
      if (!entry || !nonce) throw new Error('A tombstone does not match its ledger entry.')
      const receipt = formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint)
      const { alreadyErased, counts, erasedAt } = erasure
      return { alreadyErased, counts, erasedAt, receipt }
    }),
  )
}

const bytesBesideReceipt = 256

function identityOf(trackerId: string, subjectId: string): ListIdentity {
  return ['receipts', trackerId, subjectId]
}

type ProveDeps = Pick<ReceiptDeps, 'ledger' | 'keyring'>

/**
 * `null` if the entry is about someone else, or of a kind that is not about such an ID. Throws `not_found` if
 * there is no such entry.
 */
export async function proveReceipt(
  { ledger, keyring }: ProveDeps,
  organisationId: string,
  index: number,
  sought: Sought,
): Promise<string | null> {
  const [entry] = await ledger.list(organisationId, index, 1)
  const record = entry?.index === index ? parseRecord(entry.record) : null
  if (!entry || !record) throw notFound('This entry of the ledger')
  const nonce = nonceFor(keyring, organisationId, record, sought)
  if (nonce === null) return null
  const head = openHead(keyring.headKeys, organisationId, await ledger.head(organisationId))
  const path = await proveInclusion(ledger, organisationId, index, head)
  const checkpoint = keyring.signCheckpoint(organisationId, head)
  return formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint)
}

function nonceFor(
  keyring: Keyring,
  organisationId: string,
  record: LedgerRecord,
  sought: Sought,
): Buffer | null {
  if (record.version === 1)
    return 'subjectId' in sought ? keyring.nonceOf(record.trackerId, sought.subjectId, record) : null
  return 'identifier' in sought ? keyring.personNonceOf(organisationId, sought.identifier, record) : null
}

/** An entry whose nonce was stored, encrypted. */
interface SealedEntry {
  ledgerIndex: number
  sealedNonce: string
}

/** Makes the receipt of an entry of any kind again, against a head that covers the entry. */
export async function reissueReceipt(
  { ledger, keyring }: ProveDeps,
  organisationId: string,
  head: TreeHead,
  { ledgerIndex: index, sealedNonce }: SealedEntry,
): Promise<{ record: LedgerRecord; receipt: string }> {
  const [[entry], path] = await Promise.all([
    ledger.list(organisationId, index, 1),
    proveInclusion(ledger, organisationId, index, head),
  ])
  const record = entry?.index === index ? parseRecord(entry.record) : null
  const nonce = record && keyring.openNonce(sealedNonce, commitmentOf(record))
  if (!entry || !nonce) throw new Error('A stored nonce does not match its ledger entry.')
  const checkpoint = keyring.signCheckpoint(organisationId, head)
  return { record, receipt: formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint) }
}

/** Proves an entry without identifying anyone. */
export interface EntryCertificate extends Pick<ProvenEntry, 'record' | 'proof' | 'checkpoint'> {
  entry: DescribedEntry
  /** `null` if it was not part of a request. */
  request: NamedRequest | null
  verifierKeys: string[]
  /** `null` for an entry that nothing was held. */
  trackerName: string | null
  scrub: { lastAt: Instant; reachesEveryByte: boolean }
  /** The identifier's name in an entry that nothing was held, such as `email`, if a request asked for it. */
  identifier: string | null
  /** Only for an entry of a request, which stores the encrypted nonce; otherwise `null`. */
  receipt: string | null
}

interface CertifyDeps {
  ledger: LedgerStore
  activity: ActivityStore
  privacyRequests: PrivacyRequestStore
  trackers: TrackerStore
  maintenance: MaintenanceStore
  keyring: Keyring
}

/** Throws `not_found` if there is no entry at this index. */
export async function certifyEntry(
  deps: CertifyDeps,
  organisation: Pick<Organisation, 'id'>,
  index: number,
): Promise<EntryCertificate> {
  const proven = await proveEntry(deps, organisation.id, index)
  const { record, proof, checkpoint } = proven
  const [entry, [inRequest], { verifierKeys }, { lastAt }] = await Promise.all([
    describeEntry(deps, organisation.id, proven),
    deps.privacyRequests.ofEntries(organisation.id, [index]),
    readLedger(deps, organisation.id),
    deps.maintenance.scrubState(),
  ])
  const tracker = entry.record.version === 1 ? await deps.trackers.find(entry.record.trackerId) : null
  const nonce = inRequest && deps.keyring.openNonce(inRequest.sealedNonce, commitmentOf(entry.record))
  return {
    ...{ entry, record, proof, checkpoint, verifierKeys, request: inRequest?.request ?? null },
    trackerName: tracker?.organisationId === organisation.id ? tracker.name : null,
    scrub: { lastAt, reachesEveryByte: deps.maintenance.scrubsEveryByte },
    identifier: inRequest?.identifier ?? null,
    receipt: nonce ? formatReceipt({ nonce, record }, { index, path: proof }, checkpoint) : null,
  }
}
