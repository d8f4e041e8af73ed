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
import { type Config, ConfigError } from '../config.ts'
import type { Instant } from '../domain/instant.ts'
import { Keyring } from '../domain/keyring.ts'
import { parseSecret, type SecretStore, secretBytes } from '../domain/secret.ts'

type SecretConfig = Pick<Config, 'store' | 'secretFile' | 'ledgerOrigin'>

export interface SecretReports {
  onSecretMade?(path: string): void
  /** Ledgers of version 0.2 were authenticated. Unless the store was just upgraded, it was tampered with. */
  onLedgersAdopted?(count: number): void
}

/** As configured, or next to the embedded store, or in `data/` for PostgreSQL. */
export function secretPath({ secretFile, store }: Pick<SecretConfig, 'secretFile' | 'store'>): string {
  if (secretFile !== null) return secretFile
  if (store.engine === 'postgres') return join('data', 'lethe.secret')
  return join(dirname(store.path), `${basename(store.path, extname(store.path))}.secret`)
}

/**
 * Reads a store's secrets, or creates the first one if no file is configured. Throws if the store belongs to
 * another secret, because data erased under it could come back.
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
  if (found === null && config.secretFile !== null) throw absentFile(path)
  let isCreated = false
  const create = () => createSecret(path, () => (isCreated = true))
  const keyring = new Keyring(found ?? (await create()), config.ledgerOrigin)
  const { fingerprints } = keyring
  const adopted = await adoptStore(secrets, keyring, onLedgersAdopted)
  // If two processes create the first secret, the store decides which one it belongs to.
  const missing = fingerprints.every((fingerprint) => adopted.includes(fingerprint))
    ? keyring.missing(adopted)
    : await secrets.remember(fingerprints, now)
  if (missing.length > 0) throw otherSecret(path, missing, fingerprints)
  if (isCreated) onSecretMade?.(path)
  return keyring
}

/**
 * Authenticates the ledgers of a store of version 0.2, if all secrets are known. Returns its fingerprints.
 */
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

/** Creates nothing. Throws if the file lacks one of these secrets. */
export async function readKeyring(config: SecretConfig, known: readonly string[]): Promise<Keyring | null> {
  const path = secretPath(config)
  const found = await readSecrets(path)
  if (found === null && known.length > 0) throw missingFile(path, known)
  const keyring = found && new Keyring(found, config.ledgerOrigin)
  const missing = keyring?.missing(known) ?? known
  if (missing.length > 0) throw otherSecret(path, missing, keyring?.fingerprints ?? [])
  return keyring
}

/** The client's secret at the identity provider. Messages omit the path, which may be the secret. */
export async function readClientSecret(path: string): Promise<string> {
  const secret = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`LETHE_OIDC_CLIENT_SECRET_FILE names a file that cannot be read (${error.code}).`)
  })
  const trimmed = secret.trim()
  if (/^[ -~]{1,1000}$/.test(trimmed)) return trimmed
  throw new ConfigError('LETHE_OIDC_CLIENT_SECRET_FILE must name a file with the client secret in one line.')
}

/** The first secret is the current one; `null` if there is no file. */
async function readSecrets(path: string): Promise<[Buffer, ...Buffer[]] | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Error(`The secrets in ${path} cannot be read: ${error.message}`)
  })
  if (text === null) return null
  const lines = text.split('\n').map((line) => line.trim())
  // A repeated secret would create and sign everything twice.
  const [first, ...others] = lines.flatMap((line, index) =>
    line === '' || lines.indexOf(line) < index ? [] : [requireSecret(path, line, index + 1)],
  )
  if (!first) throw new Error(`${path} contains no secret. ${secretFormat}`)
  return [first, ...others]
}

const secretFormat = `The file has one secret per line: ${secretBytes} random bytes in base64, as printed by "openssl rand -base64 ${secretBytes}".`

/** Reports the line's number only, because its content is secret. */
function requireSecret(path: string, line: string, number: number): Buffer {
  const secret = parseSecret(line)
  if (secret) return secret
  throw new Error(`Line ${number} of ${path} is not a secret. ${secretFormat}`)
}

/** Creates a file, readable by its owner only, or reads the one that another process created first. */
async function createSecret(path: string, onCreated: () => void): Promise<[Buffer, ...Buffer[]]> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeSecrets(draft, [randomBytes(secretBytes)])
  try {
    // Unlike `rename`, `link` does not replace an existing file.
    await link(draft, path)
    onCreated()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft)
  }
  const secrets = await readSecrets(path)
  if (!secrets) throw new Error(`The new secret file ${path} was removed.`)
  return secrets
}

/**
 * Adds a new secret to the start of a store's file, atomically. The store learns about it afterwards: if it
 * knew a secret that was never written, it could not be opened again.
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
  // Creating the draft locks the file against other rotations until it is replaced.
  const file = await open(draft, 'wx', 0o600).catch(cannotReplace(path))
  try {
    const found = await readSecrets(path)
    if (!found) throw new Error(`The file ${path} was removed.`)
    const all: [Buffer, ...Buffer[]] = [randomBytes(secretBytes), ...found]
    await writeAndSync(file, all)
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
        ? `${path}.new exists: another rotation is in progress, or one was interrupted; in that case, remove the file.`
        : `${message}. Make the file and its folder writable, or add a new secret at its start yourself.`
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

/** Creates a file and makes its content durable. */
async function writeSecrets(path: string, secrets: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await writeAndSync(file, secrets)
  } finally {
    await file.close()
  }
}

async function writeAndSync(file: FileHandle, secrets: readonly Uint8Array[]): Promise<void> {
  await file.writeFile(secrets.map((secret) => `${Buffer.from(secret).toString('base64')}\n`).join(''))
  await file.sync()
}

function missingFile(path: string, known: readonly string[]): Error {
  return new Error(
    `This store belongs to ${named(known)}, but there is no file ${path}. Copy the secret file there, or set LETHE_SECRET_FILE to its path.`,
  )
}

function absentFile(path: string): Error {
  return new Error(
    `LETHE_SECRET_FILE is ${path}, but there is no such file. Copy it there, or create one: openssl rand -base64 ${secretBytes} > ${path}`,
  )
}

function otherSecret(path: string, missing: readonly string[], there: readonly string[]): Error {
  return new Error(
    `This store belongs to ${named(missing)}, but ${path} contains ${named(there)}. Use the right file, or set LETHE_SECRET_FILE to its path.`,
  )
}

/** Fingerprints do not reveal the secrets. */
function named(fingerprints: readonly string[]): string {
  const list = fingerprints.join(', ')
  return fingerprints.length === 1 ? `the secret with the fingerprint ${list}` : `the secrets ${list}`
}
