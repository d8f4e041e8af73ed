import { createHmac, hash, hkdfSync } from 'node:crypto'
import { subjectKey } from '../../src/domain/subject.ts'

/** What an attacker has: every value in every table of a store, and everyone who may have been erased. */
export interface Loot {
  values: readonly (string | Uint8Array)[]
  organisationIds: readonly string[]
  trackerIds: readonly string[]
  candidates: readonly string[]
}

/**
 * Returns the candidates that an attacker can identify as erased: hashes each one with every method in our
 * sources and some others, under the given, guessed or stolen secrets, and looks for the results.
 */
export function guessErased(loot: Loot, secrets: readonly Uint8Array[] = guessedSecrets(loot)): Set<string> {
  const found = new Set<string>()
  const haystack = new Set(loot.values.flatMap(beginningsOf))
  const instants = new Set(
    loot.values.flatMap((value) => String(value).match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? []),
  )
  const keys = new Map(
    secrets
      .flatMap((secret) => [secret, derived(secret, 'tombstones'), derived(secret, 'nonces of receipts')])
      .map((key) => [Buffer.from(key).toString('hex'), key]),
  )
  const nonceKeys = secrets.map((secret) => derived(secret, 'nonces of receipts'))
  for (const candidate of loot.candidates) {
    for (const trackerId of loot.trackerIds) {
      const guesses = [
        subjectKey(trackerId, candidate),
        ...messagesOf(loot, trackerId, candidate).flatMap((message) => [
          ...['md5', 'sha1', 'sha256', 'sha512'].map((name) => hash(name, message, 'buffer')),
          ...[...keys.values()].map((key) => hmac(key, message)),
        ]),
        ...nonceKeys.flatMap((key) => commitmentsUnder(key, trackerId, candidate, instants)),
      ]
      if (guesses.some((guess) => haystack.has(beginningOf(guess)))) found.add(candidate)
    }
  }
  return found
}

function guessedSecrets({ values, organisationIds, trackerIds }: Loot): Buffer[] {
  const words = ['', 'lethe', 'lethe.local', ...organisationIds, ...trackerIds]
  const origins = organisationIds.map((id) => `lethe.local/${id}`)
  const worthTrying = [...new Set(values)].filter((value) => !/^\d*$/.test(String(value)))
  const stored = worthTrying.flatMap((value) => [Buffer.from(value), ...decodings(value)])
  return [Buffer.alloc(32), ...[...words, ...origins].map((word) => Buffer.from(word)), ...stored]
}

function decodings(value: string | Uint8Array): Buffer[] {
  if (typeof value !== 'string') return []
  return [Buffer.from(value, 'hex'), Buffer.from(value, 'base64')]
}

function messagesOf({ organisationIds }: Loot, trackerId: string, candidate: string): string[] {
  const pairs = ['\0', '', ':', '/', '\n'].map((between) => `${trackerId}${between}${candidate}`)
  const triples = organisationIds.map((id) => `${id}\0${trackerId}\0${candidate}`)
  return [candidate, ...pairs, ...triples]
}

/** The ledger's commitments if the erasure used the secret of this key. */
function commitmentsUnder(
  nonceKey: Uint8Array,
  trackerId: string,
  candidate: string,
  instants: ReadonlySet<string>,
): Buffer[] {
  return Array.from(instants, (instant) =>
    hmac(hmac(nonceKey, `${trackerId}\0${candidate}\0${instant}`), `${trackerId}\0${candidate}`),
  )
}

function derived(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `lethe ${purpose}`, 32))
}

function hmac(key: Uint8Array, message: string): Buffer {
  return createHmac('sha256', key).update(message).digest()
}

/**
 * The first bytes of each part of a stolen value that may be a hash, complete or truncated, as text or bytes.
 */
function beginningsOf(value: string | Uint8Array): string[] {
  if (typeof value !== 'string') return [beginningOf(value)]
  const words = value.replaceAll(/\b(\w{8})-(\w{4})-(\w{4})-(\w{4})-(\w{12})\b/g, '$1$2$3$4$5')
  return (words.match(/[A-Za-z0-9+/_-]{11,}/g) ?? []).flatMap((word) => [
    beginningOf(Buffer.from(word, 'hex')),
    beginningOf(Buffer.from(word, 'base64')),
  ])
}

/** Eight bytes are enough to distinguish hashes. */
function beginningOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).subarray(0, 8).toString('hex')
}
