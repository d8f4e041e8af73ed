import { createHmac, hash, hkdfSync } from 'node:crypto'
import { subjectKey } from '../../src/domain/subject.ts'

/** What a thief has: every value of every table of a store, and everyone who may have been erased. */
export interface Loot {
  values: readonly (string | Uint8Array)[]
  organisationIds: readonly string[]
  trackerIds: readonly string[]
  candidates: readonly string[]
}

/**
 * Whom a thief can tell to have been erased: tries every candidate under these secrets, or every one that could be guessed or was found,
 * with each way of hashing that our sources tell of or that comes to mind, and looks for what comes out among all that was stolen.
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

/** What the ledger would hold, had the erasure been made under the secret of which this key is derived. */
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

/** How a stolen value, or a part of it, begins if it is a hash, whole or cut, as text or as bytes. */
function beginningsOf(value: string | Uint8Array): string[] {
  if (typeof value !== 'string') return [beginningOf(value)]
  const words = value.replaceAll(/\b(\w{8})-(\w{4})-(\w{4})-(\w{4})-(\w{12})\b/g, '$1$2$3$4$5')
  return (words.match(/[A-Za-z0-9+/_-]{11,}/g) ?? []).flatMap((word) => [
    beginningOf(Buffer.from(word, 'hex')),
    beginningOf(Buffer.from(word, 'base64')),
  ])
}

/** Eight bytes tell hashes apart. */
function beginningOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).subarray(0, 8).toString('hex')
}
