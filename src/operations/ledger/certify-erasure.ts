import type { ActivityStore } from '../../domain/activity.ts'
import type { BatchOfEntry, ErasureBatchStore } from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Keyring } from '../../domain/keyring.ts'
import type { LedgerStore } from '../../domain/ledger.ts'
import type { MaintenanceStore } from '../../domain/maintenance.ts'
import type { Organisation } from '../../domain/organisation.ts'
import { formatReceipt } from '../../domain/receipt.ts'
import type { TrackerStore } from '../../domain/tracker.ts'
import { describeErasure, type LedgerErasure } from './list-erasures.ts'
import { type ProvenEntry, proveEntry } from './prove-entry.ts'
import { readLedger } from './read-ledger.ts'

/** All that proves an erasure, without telling who was erased. */
export interface ErasureCertificate extends Pick<ProvenEntry, 'record' | 'proof' | 'checkpoint'> {
  erasure: LedgerErasure
  /** The batch that it was part of; `null` for one of its own. */
  batch: BatchOfEntry['batch'] | null
  verifierKeys: string[]
  trackerName: string | null
  scrub: { lastAt: Instant; reachesEveryByte: boolean }
  /** Made again for an erasure by a batch, which has kept the nonce under seal; `null` for any other. */
  receipt: string | null
}

interface CertifyDeps {
  ledger: LedgerStore
  activity: ActivityStore
  erasureBatches: ErasureBatchStore
  trackers: TrackerStore
  maintenance: MaintenanceStore
  keyring: Keyring
}

/** The certificate of an entry of an organisation's ledger. `not_found` when there is none at this index. */
export async function certifyErasure(
  deps: CertifyDeps,
  organisation: Pick<Organisation, 'id'>,
  index: number,
): Promise<ErasureCertificate> {
  const entry = await proveEntry(deps, organisation.id, index)
  const { record, proof, checkpoint } = entry
  const [erasure, [found], { verifierKeys }, { lastAt }] = await Promise.all([
    describeErasure(deps, organisation.id, entry),
    deps.erasureBatches.ofEntries(organisation.id, [index]),
    readLedger(deps, organisation.id),
    deps.maintenance.scrubState(),
  ])
  const tracker = await deps.trackers.find(erasure.record.trackerId)
  const nonce = found && deps.keyring.openNonce(found.sealedNonce, erasure.record.subject)
  return {
    ...{ erasure, record, proof, checkpoint, verifierKeys, batch: found?.batch ?? null },
    trackerName: tracker?.organisationId === organisation.id ? tracker.name : null,
    scrub: { lastAt, reachesEveryByte: deps.maintenance.scrubsEveryByte },
    receipt: nonce ? formatReceipt({ nonce, record }, { index, path: proof }, checkpoint) : null,
  }
}
