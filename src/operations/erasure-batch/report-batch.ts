import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BatchItem, BatchOutcome, ErasureBatch, ErasureBatchStore } from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Keyring } from '../../domain/keyring.ts'
import { type LedgerStore, openHead } from '../../domain/ledger.ts'
import type { TreeHead } from '../../domain/merkle-tree.ts'
import { maxPageSize } from '../../domain/page.ts'
import { formatReceipt, parseRecord } from '../../domain/receipt.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import { certifyErasure, type ErasureCertificate } from '../ledger/certify-erasure.ts'
import { provePlace } from '../ledger/prove-entry.ts'

/** What became of a line of the list, or of one of the subjects that it led to. */
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

/**
 * Everything a batch did, in the order in which it was to be done, with a receipt for each erasure, made against the ledger as it is
 * now. A page of it is in memory at a time.
 */
export async function* reportBatch(
  deps: ReportDeps,
  { id, organisationId }: ErasureBatch,
): AsyncGenerator<ReportedItem[]> {
  let after = -1
  for (;;) {
    const items = await deps.erasureBatches.items(id, after, maxPageSize)
    // Read after the items, so that it holds their entries.
    const head = openHead(deps.keyring.headKeys, organisationId, await deps.ledger.head(organisationId))
    if (items.length > 0) yield Promise.all(items.map((item) => reportItem(deps, organisationId, head, item)))
    const last = items.at(-1)
    if (!last || items.length < maxPageSize) return
    after = last.place
  }
}

async function reportItem(
  { ledger, keyring }: ReportDeps,
  organisationId: string,
  head: TreeHead,
  { line, outcome, trackerId, erasure }: BatchItem,
): Promise<ReportedItem> {
  if (erasure === null) return { line, outcome, trackerId, erasure }
  const index = erasure.ledgerIndex
  const [[entry], path] = await Promise.all([
    ledger.list(organisationId, index, 1),
    provePlace(ledger, organisationId, index, head),
  ])
  const record = entry?.index === index ? parseRecord(entry.record) : null
  const nonce = record && keyring.openNonce(erasure.sealedNonce, record.subject)
  if (!entry || !nonce) throw new Error('An item of a batch leads to no entry of the ledger that is its own.')
  const checkpoint = keyring.signCheckpoint(organisationId, head)
  const receipt = formatReceipt({ nonce, record: entry.record }, { index, path }, checkpoint)
  const { alreadyErased, counts, erasedAt } = record
  return { line, outcome, trackerId, erasure: { alreadyErased, counts, erasedAt, receipt } }
}

/** So many items of a batch are certified together. */
const certifiedTogether = 50

/** A page of the certificate of a batch, behind a place: its erasures, and how many items came to another end, or wait. */
export interface CertifiedPage {
  certificates: ErasureCertificate[]
  waiting: number
  gone: number
  stopped: number
  nextPlace: number | null
}

export async function certifyBatch(
  deps: ReportDeps & Parameters<typeof certifyErasure>[0],
  { id, organisationId }: ErasureBatch,
  after: number,
): Promise<CertifiedPage> {
  const items = await deps.erasureBatches.items(id, after, certifiedTogether)
  const certificates: ErasureCertificate[] = []
  for (const { erasure } of items) {
    if (!erasure) continue
    certificates.push(await certifyErasure(deps, { id: organisationId }, erasure.ledgerIndex))
    await nextTurn()
  }
  const count = (outcome: BatchOutcome) => items.filter((item) => item.outcome === outcome).length
  const nextPlace = items.length < certifiedTogether ? null : (items.at(-1)?.place ?? null)
  return {
    ...{ certificates, waiting: count('waiting'), gone: count('gone'), stopped: count('stopped') },
    nextPlace,
  }
}
