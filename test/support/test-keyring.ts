import { createHash, createSecretKey, randomUUID } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ActivityNote, SubjectCounts } from '../../src/domain/activity.ts'
import type { Instant } from '../../src/domain/instant.ts'
import { Keyring, subjectCommitment, type TombstoneKey } from '../../src/domain/keyring.ts'
import type { SecretStore } from '../../src/domain/secret.ts'
import type { ErasureMark, SubjectStore } from '../../src/domain/subject.ts'
import type { TrackerRef, TrackerView } from '../../src/domain/tracker.ts'

/** A secret that depends only on its name. */
export function testSecret(name = 'test'): Buffer {
  return createHash('sha256').update(name).digest()
}

/** A file with the test secret, for `LETHE_SECRET_FILE`: shared, so that tests can copy stores. */
export function testSecretFile(): string {
  const path = join(tmpdir(), 'lethe-test.secret')
  if (existsSync(path)) return path
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, `${testSecret().toString('base64')}\n`, { mode: 0o600 })
  renameSync(draft, path)
  return path
}

export const testKeyring = new Keyring([testSecret()], 'lethe.local')

export const { tombstoneKeys: testKeys } = testKeyring

/** Keys with the fingerprints of a store's secrets that match no tombstone. */
export async function unrelatedKeys({ secrets }: { secrets: SecretStore }): Promise<TombstoneKey[]> {
  const key = createSecretKey(testSecret('blind'))
  return (await secrets.list()).map((fingerprint) => ({ fingerprint, key }))
}

/** The tombstone and ledger data of an erasure at an instant. */
export function testMark(
  { trackerId }: Pick<TrackerRef, 'trackerId'>,
  subjectId: string,
  erasedAt: Instant,
): ErasureMark {
  const [digest] = testKeyring.tombstoneDigests(trackerId, subjectId)
  const nonce = testKeyring.nonce(trackerId, subjectId, erasedAt)
  const commitment = subjectCommitment(nonce, trackerId, subjectId)
  const sealedNonce = testKeyring.sealNonce(nonce, commitment)
  return {
    erasedAt,
    digest,
    commitment,
    sealedNonce,
    guard: { headKeys: testKeyring.headKeys, minEntries: 0 },
  }
}

/**
 * Erases a subject directly in a store and returns the counts. The erasure is dated 1970: what was deleted is
 * refused, and rows that the test adds later are newer and stored.
 */
export async function eraseIn(
  { subjects }: { subjects: SubjectStore },
  tracker: TrackerView,
  subjectId: string,
  note?: ActivityNote,
): Promise<SubjectCounts | null> {
  const erased = await subjects.erase(tracker, subjectId, testMark(tracker, subjectId, 0), note)
  return erased?.counts ?? null
}
