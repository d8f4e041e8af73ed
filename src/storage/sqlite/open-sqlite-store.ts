import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { LetheError } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'
import { anyOrganisation } from '../nouns/organisation.ts'
import { refusedLineStore } from '../nouns/refused-line.ts'
import { sharedStores } from '../nouns/stores.ts'
import { identifierNameStore } from '../nouns/subject.ts'
import { transferStore } from '../nouns/transfer.ts'
import { openInspector, openReader, openWriter, snapshot } from './connection.ts'
import { type Connections, sqliteEngine } from './connections.ts'
import { ExportSnapshots, exportStore } from './export.ts'
import { derivationStore } from './identifier-derivation.ts'
import { ingestStore } from './ingest.ts'
import type { Commands } from './message-handler.ts'
import { ForeignStore, isEmpty, migrate, refuseForeign } from './migrate.ts'
import { scrubStore } from './scrub.ts'
import { searchStore } from './search.ts'
import { eventStore, sessionStore } from './session.ts'
import { holdStore, removeRestoreFiles, withMaintenanceLock } from './store-files.ts'
import { subjectStore } from './subject.ts'
import { trackerSweep } from './sweep.ts'
import { Writer, writeHere, writeInThread } from './writer.ts'

interface SqliteOptions {
  /** Whether this process already holds the store exclusively. */
  isHeld?: boolean
  /** As in `OpenOptions`. */
  writesHere?: boolean
}

/**
 * Opens the embedded store in a file; creates or upgrades it if needed. Reads run in this thread; writes run
 * in another one unless `writesHere` is set.
 */
export async function openSqliteStore(
  path: string,
  { isHeld = false, writesHere = false }: SqliteOptions = {},
): Promise<Store> {
  const release = isHeld ? () => {} : withOpenError(path, () => hold(path))
  let reader: DatabaseSync | null = null
  try {
    reader = prepare(path)
    if (!isHeld) removeRestoreFiles(path)
  } catch (error) {
    reader?.close()
    release()
    throw error
  }
  const snapshots = new ExportSnapshots()
  const writer = new Writer(path, writesHere ? writeHere : writeInThread, (isWanted) =>
    snapshots.noteLogWanted(isWanted),
  )
  const connections: Connections<Commands> = { path, reader, writer }
  const engine = sqliteEngine(connections)
  return {
    ...sharedStores(engine, trackerSweep(connections)),
    subjects: subjectStore(connections),
    search: { ...searchStore(connections), ...identifierNameStore(engine) },
    exports: exportStore(connections, snapshots),
    sessions: sessionStore(connections),
    events: eventStore(connections),
    ingest: { ...ingestStore(connections), ...refusedLineStore(engine) },
    derivation: derivationStore(connections),
    maintenance: {
      ...scrubStore(connections),
      noteSweep: (begunAt) => engine.transact('noteSweep', begunAt),
      withMaintenanceLock: (work) => withMaintenanceLock(path, work),
      backup: (file) => writer.run('backup', file),
      distribute,
    },
    transfer: transferStore(engine, (table, rows) => writer.run('addRows', table, rows)),
    batchReads: (reads) => snapshot(reader, reads),
    async ping() {
      await engine.read(anyOrganisation)
      await requireRoom(path)
      await writer.requireWritable()
    },
    prepareToWrite: () => writer.run('getReady'),
    logHeldMs: () => writer.logHeldMs(),
    async close() {
      await writer.close()
      reader.close()
      release()
    },
  }
}

/**
 * Whether a file holds a store; an empty one does not. Read-only; throws for a file that cannot be opened as
 * a store.
 */
export function sqliteStoreExists(path: string): boolean {
  return withOpenError(path, () => {
    // A missing file is an answer; a folder without access throws.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return false
    return withConnection(openInspector(path), (db) => {
      refuseForeign(db, path)
      return !isEmpty(db)
    })
  })
}

function hold(path: string): () => void {
  // Creates no files beside another program's database.
  if (existsSync(path)) withConnection(openInspector(path), (db) => refuseForeign(db, path))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return holdStore(path)
}

/**
 * Creates or upgrades the store, and opens it for reading. Opening it for writing changes it, so its owner
 * must have been checked before. Two connections overlap, because the last one to close removes the log.
 */
function prepare(path: string): DatabaseSync {
  return withOpenError(path, () =>
    withConnection(openWriter(path), (db) => {
      migrate(db, path)
      return openReader(path)
    }),
  )
}

/** Runs `work` on a store. Errors become one line for the operator. */
function withOpenError<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof ForeignStore) throw error
    const reason = unwritableFolder(path) ?? (error instanceof Error ? error.message : error)
    throw new Error(`Cannot open the store ${path}: ${reason}.`, { cause: error })
  }
}

/** A clear message if the folder of a store is not writable; `null` if it is. */
function unwritableFolder(path: string): string | null {
  let folder = dirname(path)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
    return null
  } catch {
    return `the folder ${folder} is not writable`
  }
}

function withConnection<Result>(db: DatabaseSync, work: (db: DatabaseSync) => Result): Result {
  try {
    return work(db)
  } finally {
    db.close()
  }
}

async function distribute(): Promise<void> {
  throw new LetheError(
    'invalid_request',
    'The embedded store cannot be distributed. Set LETHE_STORE to a PostgreSQL with the Citus extension.',
  )
}

/** What a larger transaction needs. */
const minBytes = 2 ** 20

/** Rejects if the disk of a store is almost full. */
export async function requireRoom(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  const left = bavail * bsize
  if (left < minBytes) throw new Error(`The disk of the store is full: ${left} bytes are left.`)
}
