import { randomBytes } from 'node:crypto'
import {
  access,
  constants,
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Config } from '../config.ts'
import type { Instant } from '../domain/instant.ts'
import { Keyring } from '../domain/keyring.ts'
import { parseSecret, type SecretStore, secretBytes } from '../domain/secret.ts'

type SecretConfig = Pick<Config, 'store' | 'secretFile' | 'ledgerOrigin'>

/** What is told while the secrets of a store are opened. */
export interface SecretReports {
  /** A secret was made, at this path. */
  onSecretMade?(path: string): void
  /** So many ledgers of a store of version 0.2 were authenticated. Unless the store was just upgraded, somebody has tampered with it. */
  onLedgersAdopted?(count: number): void
}

/** Where the installation's secrets are: where the configuration says, else beside the embedded store, or in `data/` for PostgreSQL. */
export function secretPath({ secretFile, store }: Pick<SecretConfig, 'secretFile' | 'store'>): string {
  if (secretFile !== null) return secretFile
  if (store.engine === 'postgres') return join('data', 'lethe.secret')
  return join(dirname(store.path), `${basename(store.path, extname(store.path))}.secret`)
}

/**
 * Reads the secrets that a store belongs to, and makes one where none was ever used and no file is named.
 * Throws, with nothing changed, when the store belongs to another secret: what was erased under that one could come back.
 */
export async function openKeyring(
  config: SecretConfig,
  secrets: SecretStore,
  now: Instant,
  { onSecretMade, onLedgersAdopted }: SecretReports = {},
): Promise<Keyring> {
  const path = secretPath(config)
  const known = await secrets.list()
  const found = await readSecrets(path)
  if (found === null && known.length > 0) throw missingFile(path, known)
  if (found === null && config.secretFile !== null) throw unmadeFile(path)
  let isMade = false
  const make = () => makeSecret(path, () => (isMade = true))
  const keyring = new Keyring(found ?? (await make()), config.ledgerOrigin)
  const { fingerprints } = keyring
  const adopted = await adoptStore(secrets, keyring, onLedgersAdopted)
  // Asked again while it remembers: where two make the first secret, the store belongs to one of them.
  const missing = fingerprints.every((fingerprint) => adopted.includes(fingerprint))
    ? keyring.missing(adopted)
    : await secrets.remember(fingerprints, now)
  if (missing.length > 0) throw otherSecret(path, missing, fingerprints)
  if (isMade) onSecretMade?.(path)
  return keyring
}

/** Authenticates the ledgers of a store that version 0.2 wrote, if all of its secrets are here. Returns the store's fingerprints. */
export async function adoptStore(
  secrets: SecretStore,
  keyring: Keyring,
  onAdopted?: SecretReports['onLedgersAdopted'],
): Promise<string[]> {
  const known = await secrets.list()
  const older = keyring.olderAmong(known)
  if (older.size === 0 || keyring.missing(known).length > 0) return known
  const ledgers = await secrets.adopt(older, keyring.headKeys)
  if (ledgers > 0) onAdopted?.(ledgers)
  return secrets.list()
}

/** Reads the secrets that what has these fingerprints belongs to. Makes none; throws when the file lacks one of them. */
export async function readKeyring(config: SecretConfig, known: readonly string[]): Promise<Keyring | null> {
  const path = secretPath(config)
  const found = await readSecrets(path)
  if (found === null && known.length > 0) throw missingFile(path, known)
  const keyring = found && new Keyring(found, config.ledgerOrigin)
  const missing = keyring?.missing(known) ?? known
  if (missing.length > 0) throw otherSecret(path, missing, keyring?.fingerprints ?? [])
  return keyring
}

/** The secrets of a file, the first of which is used; `null` when it is not there. */
export async function readSecrets(path: string): Promise<[Buffer, ...Buffer[]] | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Error(`The secrets in ${path} cannot be read: ${error.message}`)
  })
  if (text === null) return null
  const lines = text.split('\n').map((line) => line.trim())
  // A secret that is there twice would make and sign everything twice.
  const [first, ...others] = lines.flatMap((line, index) =>
    line === '' || lines.indexOf(line) < index ? [] : [requireSecret(path, line, index + 1)],
  )
  if (!first) throw new Error(`${path} holds no secret. ${whatItHolds}`)
  return [first, ...others]
}

const whatItHolds = `It holds one a line: ${secretBytes} random bytes in base64, as of "openssl rand -base64 ${secretBytes}".`

/** What is wrong is told by its place: the line itself is secret. */
function requireSecret(path: string, line: string, number: number): Buffer {
  const secret = parseSecret(line)
  if (secret) return secret
  throw new Error(`Line ${number} of ${path} is no secret. ${whatItHolds}`)
}

/** Makes a file with a new secret, for its owner's eyes alone, or reads the one that another process was quicker with. */
async function makeSecret(path: string, onMade: () => void): Promise<[Buffer, ...Buffer[]]> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeSecrets(draft, [randomBytes(secretBytes)])
  try {
    // Unlike a file that is renamed, one that is linked takes nobody's place.
    await link(draft, path)
    onMade()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft)
  }
  const secrets = await readSecrets(path)
  if (!secrets) throw new Error(`The secret in ${path} was taken away again.`)
  return secrets
}

/**
 * Puts a new secret in front of those in the file of a store, whole or not at all, and hands back all of them. The store comes to know
 * it afterwards: one that knew of a secret which was never written down could not be opened again.
 */
export async function rotateSecret(
  config: SecretConfig,
  secrets: SecretStore,
  now: Instant,
): Promise<{ path: string; keyring: Keyring }> {
  const path = await realpath(secretPath(config))
  const draft = `${path}.new`
  const { mode, uid, gid } = await stat(path)
  await access(path, constants.W_OK).catch(cannotReplace(path))
  // Who made the draft has the rotation to itself: what is read now is what is replaced.
  const file = await open(draft, 'wx', 0o600).catch(cannotReplace(path))
  try {
    const found = await readSecrets(path)
    if (!found) throw new Error(`There is no file ${path} any more.`)
    const all: [Buffer, ...Buffer[]] = [randomBytes(secretBytes), ...found]
    await fill(file, all)
    await file.chmod(mode & 0o777)
    const own = await file.stat()
    if (own.uid !== uid || own.gid !== gid) await file.chown(uid, gid).catch(cannotReplace(path))
    await rename(draft, path)
    await syncFolder(dirname(path))
    const keyring = new Keyring(all, config.ledgerOrigin)
    const missing = await secrets.remember(keyring.fingerprints, now)
    if (missing.length > 0) throw otherSecret(path, missing, keyring.fingerprints)
    return { path, keyring }
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}

function cannotReplace(path: string): (error: NodeJS.ErrnoException) => never {
  return ({ code, message }) => {
    const why =
      code === 'EEXIST'
        ? `${path}.new is there: another rotation is under way, or one broke off; then remove that file.`
        : `${message}. Make the file and its folder writable, or put a new secret in front of the others yourself.`
    throw new Error(`The secrets in ${path} cannot be replaced, and nothing was changed: ${why}`)
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null)
  try {
    await folder?.sync()
  } finally {
    await folder?.close()
  }
}

/** Writes secrets to a new file, and sees to it that they are on the disk. */
export async function writeSecrets(path: string, secrets: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await fill(file, secrets)
  } finally {
    await file.close()
  }
}

async function fill(file: FileHandle, secrets: readonly Uint8Array[]): Promise<void> {
  await file.writeFile(secrets.map((secret) => `${Buffer.from(secret).toString('base64')}\n`).join(''))
  await file.sync()
}

function missingFile(path: string, known: readonly string[]): Error {
  return new Error(
    `This store belongs to ${named(known)}, and there is no file ${path}. Bring the file with it to that place, or set LETHE_SECRET_FILE to where it is.`,
  )
}

function unmadeFile(path: string): Error {
  return new Error(
    `LETHE_SECRET_FILE is ${path}, and there is no such file. Bring it, or make one: openssl rand -base64 ${secretBytes} > ${path}`,
  )
}

function otherSecret(path: string, missing: readonly string[], there: readonly string[]): Error {
  return new Error(
    `This store belongs to ${named(missing)}; ${path} holds ${named(there)}. Bring the right file, or set LETHE_SECRET_FILE to where it is.`,
  )
}

/** Secrets by their fingerprints, from which nobody can tell them. */
function named(fingerprints: readonly string[]): string {
  const list = fingerprints.join(', ')
  return fingerprints.length === 1 ? `the secret with the fingerprint ${list}` : `the secrets ${list}`
}
