import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { formatInstant, type Instant } from './instant.ts'
import type { HeadKeys } from './ledger.ts'
import type { TreeHead } from './merkle-tree.ts'
import { type Person, refKey } from './person.ts'
import { formatCheckpoint, type NoteSigner, noteSigner } from './receipt.ts'
import { comparableValue, type SubjectIdentifier } from './subject-identifier.ts'
import { openWithAny, TextSeal } from './text-seal.ts'

/** Derives tombstone digests; there is one key for each secret. */
export interface TombstoneKey {
  key: KeyObject
  fingerprint: string
}

export const digestBytes = 16

/**
 * What a tombstone keeps of a subject: the first 16 bytes of HMAC-SHA-256 over the tracker ID, NUL and the
 * subject ID. Without the key, it identifies nobody.
 */
export function tombstoneDigest({ key }: TombstoneKey, trackerId: string, subjectId: string): Buffer {
  // Hexadecimal avoids a separate memory allocation for every subject of an import.
  const digest = createHmac('sha256', key).update(`${trackerId}\0${subjectId}`).digest('hex')
  return Buffer.from(digest.slice(0, 2 * digestBytes), 'hex')
}

/** What the ledger keeps of a subject. Without the nonce, it identifies nobody. */
export function subjectCommitment(nonce: Uint8Array, trackerId: string, subjectId: string): string {
  return createHmac('sha256', nonce).update(`${trackerId}\0${subjectId}`).digest('base64url')
}

/** What the ledger keeps of a person about whom nothing is held. Without the nonce, it identifies nobody. */
export function personCommitment(nonce: Uint8Array, identifier: SubjectIdentifier): string {
  return createHmac('sha256', nonce)
    .update(`${identifier.name}\0${comparableValue(identifier)}`)
    .digest('base64url')
}

const sealCipher = 'aes-256-gcm'
const sealTagBytes = 16

/** Commitments are unique and indistinguishable from random, so their first bytes can serve as the IV. */
function sealStart(commitment: string): Buffer {
  return Buffer.from(commitment, 'base64url').subarray(0, 12)
}

/** The keys derived from one secret, one for each purpose (HKDF, RFC 5869). */
class Secret {
  readonly #secret: Uint8Array
  readonly #nonceKey: KeyObject
  readonly #personNonceKey: KeyObject
  readonly #sealKey: Buffer
  readonly #requestKey: KeyObject
  readonly people: TextSeal
  readonly totpSecrets: TextSeal
  readonly fingerprint: string
  readonly olderFingerprint: string
  readonly headKey: Buffer
  readonly tombstoneKey: TombstoneKey

  constructor(secret: Uint8Array) {
    this.#secret = secret
    this.#nonceKey = createSecretKey(this.#derive('nonces of receipts'))
    this.#personNonceKey = createSecretKey(this.#derive('nonces of receipts that nothing is held'))
    this.#sealKey = this.#derive('seals of nonces')
    this.#requestKey = createSecretKey(this.#derive('privacy requests'))
    this.people = this.#textSeal('people')
    this.totpSecrets = this.#textSeal('secrets of one-time codes')
    this.fingerprint = this.#derive('fingerprint of a store with authenticated ledgers')
      .subarray(0, 8)
      .toString('hex')
    this.olderFingerprint = this.#derive('fingerprint').subarray(0, 8).toString('hex')
    this.headKey = this.#derive('heads of ledgers')
    this.tombstoneKey = {
      key: createSecretKey(this.#derive('tombstones')),
      fingerprint: this.fingerprint,
    }
  }

  nonce(trackerId: string, subjectId: string, erasedAt: Instant): Buffer {
    const of = `${trackerId}\0${subjectId}\0${formatInstant(erasedAt)}`
    return createHmac('sha256', this.#nonceKey).update(of).digest()
  }

  personNonce(organisationId: string, identifier: SubjectIdentifier, checkedAt: Instant): Buffer {
    const { name } = identifier
    const of = `${organisationId}\0${name}\0${comparableValue(identifier)}\0${formatInstant(checkedAt)}`
    return createHmac('sha256', this.#personNonceKey).update(of).digest()
  }

  /** A digest of parts of a request's person, of its content, or of what its ID is made from. */
  requestDigest(
    organisationId: string,
    what: 'content' | 'id' | 'identifier' | 'subject',
    text: string,
  ): Buffer {
    const of = `${organisationId}\0${what}\0${text}`
    return createHmac('sha256', this.#requestKey).update(of).digest()
  }

  seal(nonce: Uint8Array, commitment: string): Buffer {
    const cipher = createCipheriv(sealCipher, this.#sealKey, sealStart(commitment))
    return Buffer.concat([cipher.update(nonce), cipher.final(), cipher.getAuthTag()])
  }

  /** `null` if another secret sealed the nonce. */
  open(sealed: Buffer, commitment: string): Buffer | null {
    try {
      const decipher = createDecipheriv(sealCipher, this.#sealKey, sealStart(commitment), {
        authTagLength: sealTagBytes,
      })
      decipher.setAuthTag(sealed.subarray(-sealTagBytes))
      return Buffer.concat([decipher.update(sealed.subarray(0, -sealTagBytes)), decipher.final()])
    } catch {
      return null
    }
  }

  signer(organisationId: string, origin: string): NoteSigner {
    return noteSigner(origin, this.#derive(`ledger of ${organisationId}`))
  }

  #textSeal(what: string): TextSeal {
    const ivKey = this.#derive(`initialisation vectors of seals of ${what}`)
    return new TextSeal(this.#derive(`seals of ${what}`), ivKey)
  }

  #derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, '', `lethe ${purpose}`, 32))
  }
}

/** The installation's secrets. The first one is used for new data; all are accepted for existing data. */
export class Keyring {
  readonly #secrets: readonly [Secret, ...Secret[]]
  readonly #ledgerOrigin: string
  readonly #signers = new Map<string, readonly NoteSigner[]>()
  readonly #checkpoints = new Map<string, { head: TreeHead; checkpoint: string }>()
  /** In the order of the secrets. */
  readonly tombstoneKeys: readonly TombstoneKey[]
  readonly headKeys: HeadKeys
  /** Identify the secrets that a store belongs to. */
  readonly fingerprints: readonly string[]

  constructor([first, ...others]: readonly [Uint8Array, ...Uint8Array[]], ledgerOrigin: string) {
    this.#secrets = [new Secret(first), ...others.map((secret) => new Secret(secret))]
    this.#ledgerOrigin = ledgerOrigin
    this.tombstoneKeys = this.#secrets.map(({ tombstoneKey }) => tombstoneKey)
    this.headKeys = [this.#secrets[0].headKey, ...this.#secrets.slice(1).map(({ headKey }) => headKey)]
    this.fingerprints = this.#secrets.map(({ fingerprint }) => fingerprint)
  }

  /** Maps the store's fingerprints from version 0.2 to the current ones. */
  olderAmong(fingerprints: readonly string[]): Map<string, string> {
    const pairs = this.#secrets.map(
      ({ olderFingerprint, fingerprint }) => [olderFingerprint, fingerprint] as const,
    )
    return new Map(pairs.filter(([older]) => fingerprints.includes(older)))
  }

  /** The store's fingerprints that match none of the secrets. */
  missing(fingerprints: readonly string[]): string[] {
    const older = this.olderAmong(fingerprints)
    return fingerprints.filter((each) => !this.fingerprints.includes(each) && !older.has(each))
  }

  /** A subject's digest under every secret, the current one first. */
  tombstoneDigests(trackerId: string, subjectId: string): [Buffer, ...Buffer[]] {
    const digest = ({ tombstoneKey }: Secret) => tombstoneDigest(tombstoneKey, trackerId, subjectId)
    const [first, ...others] = this.#secrets
    return [digest(first), ...others.map(digest)]
  }

  /** The nonce of a new receipt. It is derived, so that receipts need not be stored. */
  nonce(trackerId: string, subjectId: string, erasedAt: Instant): Buffer {
    return this.#secrets[0].nonce(trackerId, subjectId, erasedAt)
  }

  /** The nonce of a receipt made with any of the secrets; `null` if the subject or the secret is another. */
  nonceOf(
    trackerId: string,
    subjectId: string,
    record: { erasedAt: Instant; subject: string },
  ): Buffer | null {
    const nonces = this.#secrets.map((secret) => secret.nonce(trackerId, subjectId, record.erasedAt))
    return nonces.find((nonce) => subjectCommitment(nonce, trackerId, subjectId) === record.subject) ?? null
  }

  /** The nonce of a new receipt that nothing is held. Derived, like that of an erasure. */
  personNonce(organisationId: string, identifier: SubjectIdentifier, checkedAt: Instant): Buffer {
    return this.#secrets[0].personNonce(organisationId, identifier, checkedAt)
  }

  /** As `nonceOf`, for an entry that nothing is held about a person. */
  personNonceOf(
    organisationId: string,
    identifier: SubjectIdentifier,
    { checkedAt, person }: { checkedAt: Instant; person: string },
  ): Buffer | null {
    const nonces = this.#secrets.map((secret) => secret.personNonce(organisationId, identifier, checkedAt))
    return nonces.find((nonce) => personCommitment(nonce, identifier) === person) ?? null
  }

  /**
   * Digests of a person's identifiers and subjects under every secret, the current one first. They recognise
   * the person's requests in an organisation, and without the secrets identify nobody.
   */
  personDigests(organisationId: string, { identifiers, subjects }: Person): [Buffer[], ...Buffer[][]] {
    const digests = (secret: Secret) =>
      [
        ...identifiers.map((each) =>
          secret.requestDigest(organisationId, 'identifier', `${each.name}\0${comparableValue(each)}`),
        ),
        ...subjects.map((each) => secret.requestDigest(organisationId, 'subject', refKey(each))),
      ].map((digest) => digest.subarray(0, digestBytes))
    const [first, ...others] = this.#secrets
    return [digests(first), ...others.map(digests)]
  }

  /** A digest of what a request was created with, under every secret, the current one first. */
  contentDigests(organisationId: string, content: string): [string, ...string[]] {
    const digest = (secret: Secret) =>
      secret.requestDigest(organisationId, 'content', content).toString('base64url')
    const [first, ...others] = this.#secrets
    return [digest(first), ...others.map(digest)]
  }

  /**
   * The ID of a request that is made from its content, under every secret, the current one first: a UUID of
   * version 8. Without the secrets, nobody can tell from it whom the request is about.
   */
  requestIds(organisationId: string, content: string): [string, ...string[]] {
    const uuid = (secret: Secret) => {
      const bytes = secret.requestDigest(organisationId, 'id', content).subarray(0, 16)
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    }
    const [first, ...others] = this.#secrets
    return [uuid(first), ...others.map(uuid)]
  }

  /** Encrypts a nonce for the store, bound to the ledger entry with this commitment. */
  sealNonce(nonce: Uint8Array, commitment: string): string {
    return this.#secrets[0].seal(nonce, commitment).toString('base64url')
  }

  /** `null` if none of the secrets sealed the nonce. */
  openNonce(sealed: string, commitment: string): Buffer | null {
    const bytes = Buffer.from(sealed, 'base64url')
    for (const secret of this.#secrets) {
      const nonce = secret.open(bytes, commitment)
      if (nonce) return nonce
    }
    return null
  }

  /**
   * Encrypts the description of a person for an address that members of the organisation can open. The same
   * text gives the same address.
   */
  sealPerson(organisationId: string, text: string): string {
    return this.#secrets[0].people.seal(organisationId, text).toString('base64url')
  }

  /** `null` if the text was not sealed for this organisation with one of the secrets. */
  openPerson(organisationId: string, sealed: string): string | null {
    return openWithAny(
      this.#secrets.map(({ people }) => people),
      organisationId,
      sealed,
    )
  }

  /** Encrypts the secret of a member's one-time codes for the store. */
  sealTotpSecret(memberId: string, secret: string): string {
    return this.#secrets[0].totpSecrets.seal(memberId, secret).toString('base64url')
  }

  /** `null` if it was not sealed for this member with one of the secrets. */
  openTotpSecret(memberId: string, sealed: string): string | null {
    return openWithAny(
      this.#secrets.map(({ totpSecrets }) => totpSecrets),
      memberId,
      sealed,
    )
  }

  /** The name of an organisation's ledger and of its keys. */
  originOf(organisationId: string): string {
    return `${this.#ledgerOrigin}/${encodeURIComponent(organisationId)}`
  }

  /** Signs the head of an organisation's ledger. Cached, because concurrent erasures share a head. */
  signCheckpoint(organisationId: string, head: TreeHead): string {
    const last = this.#checkpoints.get(organisationId)
    if (last?.head.size === head.size && Buffer.compare(last.head.rootHash, head.rootHash) === 0) {
      return last.checkpoint
    }
    const checkpoint = formatCheckpoint(this.originOf(organisationId), head, this.signersOf(organisationId))
    this.#checkpoints.set(organisationId, { head, checkpoint })
    return checkpoint
  }

  /** Every secret signs, so that clients that trust an older key can still verify. */
  signersOf(organisationId: string): readonly NoteSigner[] {
    const known = this.#signers.get(organisationId)
    if (known) return known
    const origin = this.originOf(organisationId)
    const signers = this.#secrets.map((secret) => secret.signer(organisationId, origin))
    this.#signers.set(organisationId, signers)
    return signers
  }
}
