import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { appendLeaf, type Frontier, formatFrontier, hashLeaf, headAt } from '../../domain/merkle-tree.ts'
import { integer, text } from '../nouns/row.ts'
import { transferTables } from '../rules/schema.ts'
import { createPrivately, writeThrough } from './connection.ts'
import { ForeignStore, isOurs, migrations, version } from './migrate.ts'
import { removeStore, tryLock } from './store-files.ts'

// A backup being written is protected by a lock on an empty file beside it, and removes both. After a kill
// both remain without a lock: this tells an abandoned backup from a running one and from other files.
const lockSuffix = '-lock'

export function backupCommands(db: DatabaseSync) {
  const copy = db.prepare('VACUUM INTO ?')
  return {
    /** Writes the backup under another name, so that a file with the requested name is always complete. */
    backup(file: string): void {
      if (existsSync(file)) throw new Error(`${file} already exists. Choose another file.`)
      const partial = `${file}.partial`
      const lock = tryLock(partial + lockSuffix, 'BEGIN EXCLUSIVE')
      if (!lock) throw new Error(`Another backup is writing ${file}.`)
      try {
        removeAbandonedBackups(dirname(file))
        removeStore(partial)
        createPrivately(partial)
        copy.run(partial)
        writeThrough(partial)
        renameSync(partial, file)
        writeThrough(dirname(file))
      } finally {
        removeStore(partial)
        lock.close()
        rmSync(partial + lockSuffix, { force: true })
      }
    },
  }
}

/** Removes abandoned backups from a folder: they contain people who may have been erased since. */
export function removeAbandonedBackups(folder: string): void {
  const suffix = `.partial${lockSuffix}`
  for (const name of readdirSync(folder).filter((each) => each.endsWith(suffix))) {
    const path = join(folder, name)
    const lock = tryLockOf(path)
    if (!lock) continue
    removeStore(path.slice(0, -lockSuffix.length))
    lock.close()
    rmSync(path, { force: true })
  }
}

/** `null` also for the file of another user's backup, which this process may not remove. */
function tryLockOf(path: string): DatabaseSync | null {
  try {
    return tryLock(path, 'BEGIN EXCLUSIVE')
  } catch {
    return null
  }
}

/** The contents of a backup. */
export interface BackupContents {
  bytes: number
  /** Of the file, in hexadecimal. */
  sha256: string
  storeVersion: number
  /** The number of rows of each table. */
  rows: Record<string, number>
  ledgers: { organisationId: string; size: number; rootHash: string }[]
  /** The fingerprints of the secrets it belongs to. */
  secrets: string[]
}

/**
 * Reads and verifies a whole backup. Throws a one-line error for a file that is missing, damaged, no backup
 * or written by a newer program, and for a ledger that does not match its hashes. Opens the file read-only.
 */
export async function readBackup(path: string): Promise<BackupContents> {
  if (!existsSync(path)) throw new Error(`There is no file ${path}.`)
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  try {
    const storeVersion = requireSound(db, path)
    return { bytes: statSync(path).size, sha256: await hashOf(path), storeVersion, ...contentsOf(db, path) }
  } finally {
    db.close()
  }
}

function requireSound(db: DatabaseSync, path: string): number {
  const [problem] = problemsOf(db)
  if (problem !== undefined) throw new Error(`${path} is damaged: ${problem}.`)
  if (!isOurs(db)) throw new ForeignStore(`${path} is no backup of a Lethe store.`)
  const [found, known] = [version(db), migrations().length]
  if (found <= known) return found
  throw new ForeignStore(
    `${path} was written by a newer Lethe (store version ${found}; this one knows up to ${known}).`,
  )
}

function problemsOf(db: DatabaseSync): string[] {
  try {
    const rows = db.prepare('PRAGMA integrity_check(1)').all()
    return rows.map((row) => text(row, 'integrity_check')).filter((said) => said !== 'ok')
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Tables that stores of older versions have. */
const formerTables = ['erasure_batches', 'erasure_batch_items']

/** For an older version, whatever exists there. */
function contentsOf(db: DatabaseSync, path: string): Pick<BackupContents, 'rows' | 'ledgers' | 'secrets'> {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
  const known = [...transferTables.map(({ name }) => name), ...formerTables]
  const tables = known.filter((name) => isThere.get(name))
  const count = (name: string) => integer(db.prepare(`SELECT count(*) AS n FROM ${name}`).get() ?? {}, 'n')
  const secrets = tables.includes('secrets') ? db.prepare('SELECT fingerprint FROM secrets').all() : []
  return {
    rows: Object.fromEntries(tables.map((name) => [name, count(name)])),
    ledgers: tables.includes('ledger_entries') ? ledgersOf(db, path) : [],
    secrets: secrets.map((row) => text(row, 'fingerprint')).sort(),
  }
}

function ledgersOf(db: DatabaseSync, path: string): BackupContents['ledgers'] {
  const entries = db.prepare(
    'SELECT organisation_id, ledger_index, record, edge FROM ledger_entries ORDER BY organisation_id, ledger_index',
  )
  const frontiers = new Map<string, Frontier>()
  for (const row of entries.iterate()) {
    const organisationId = text(row, 'organisation_id')
    const index = integer(row, 'ledger_index')
    const frontier = appendLeaf(frontiers.get(organisationId) ?? null, hashLeaf(text(row, 'record')))
    if (frontier.size !== index + 1 || formatFrontier(frontier) !== text(row, 'edge')) {
      throw new Error(
        `${path} is damaged: the ledger of "${organisationId}" does not hold at entry ${index}.`,
      )
    }
    frontiers.set(organisationId, frontier)
  }
  return Array.from(frontiers, ([organisationId, frontier]) => {
    const { size, rootHash } = headAt(frontier)
    return { organisationId, size, rootHash: Buffer.from(rootHash).toString('base64') }
  })
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
