import type { ActivityEntry } from '../../domain/activity.ts'
import { type ApiKey, apiKeyState } from '../../domain/api-key.ts'
import type { BatchOfEntry } from '../../domain/erasure-batch.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { LedgerEntry } from '../../domain/ledger.ts'
import type { Member } from '../../domain/member.ts'
import { parseRecord } from '../../domain/receipt.ts'
import type { ErasureCertificate } from '../../operations/ledger/certify-erasure.ts'
import type { LedgerErasure } from '../../operations/ledger/list-erasures.ts'
import type { ProvenEntry } from '../../operations/ledger/prove-entry.ts'
import type { LedgerHead } from '../../operations/ledger/read-ledger.ts'

export function orNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}

/** A key as pages show it: all but its string, which is in no store. */
export function presentKey(key: ApiKey, now: Instant) {
  const { id, name, scopes, lastFour } = key
  return {
    ...{ id, name, scopes: [...scopes], lastFour, state: apiKeyState(key, now) },
    createdAt: formatInstant(key.createdAt),
    rotatedAt: orNull(key.rotatedAt),
    expiresAt: orNull(key.expiresAt),
    revokedAt: orNull(key.revokedAt),
    lastUsedAt: orNull(key.lastUsedAt),
  }
}

export function presentMember({ id, email, createdAt, passwordSetAt }: Member) {
  return { id, email, createdAt: formatInstant(createdAt), joinedAt: orNull(passwordSetAt) }
}

export function presentActivity(entry: ActivityEntry) {
  const { id, at, actor, kind, target, requestId, counts, ledgerIndex } = entry
  return { id, at: formatInstant(at), actor, kind, target, requestId, counts, ledgerIndex }
}

export function presentLedgerErasure(
  { index, record, by }: LedgerErasure,
  batch: BatchOfEntry['batch'] | null,
) {
  const { trackerId, erasedAt, alreadyErased, counts } = record
  return { index, trackerId, erasedAt: formatInstant(erasedAt), alreadyErased, counts, by, batch }
}

export function presentCertificate(
  { erasure, batch, scrub, ...rest }: ErasureCertificate,
  organisation: string,
) {
  const { lastAt, reachesEveryByte } = scrub
  return {
    ...{ ...rest, erasure: presentLedgerErasure(erasure, batch), organisation },
    scrub: { lastAt: formatInstant(lastAt), reachesEveryByte },
  }
}

export function presentProvenEntry({ index, record, leafHash, proof, checkpoint }: ProvenEntry) {
  return { index, record, leafHash: Buffer.from(leafHash).toString('base64'), proof, checkpoint }
}

export function presentLedger(
  { origin, size, rootHash, checkpoint, verifierKeys }: LedgerHead,
  last: LedgerEntry | null,
) {
  const record = last && parseRecord(last.record)
  return {
    ...{ origin, size, rootHash: Buffer.from(rootHash).toString('base64'), checkpoint, verifierKeys },
    lastErasedAt: orNull(record?.erasedAt ?? null),
  }
}
