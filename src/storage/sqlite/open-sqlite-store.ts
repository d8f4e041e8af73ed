import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { LetheError } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'
import { activityStore } from './activity.ts'
import { alone, holdStore } from './alone.ts'
import { apiKeyStore } from './api-key.ts'
import type { Commands } from './commands.ts'
import { openReader, openWriter, snapshot } from './connection.ts'
import type { Connections } from './connections.ts'
import { dailyTotalStore } from './daily-total.ts'
import { deletionStore } from './deletion.ts'
import { erasureBatchStore } from './erasure-batch.ts'
import { eventStore } from './event.ts'
import { ExportSnapshots } from './export-snapshots.ts'
import { derivationStore } from './identifier-derivation.ts'
import { ingestStore } from './ingest.ts'
import { ledgerStore } from './ledger.ts'
import { memberStore } from './member.ts'
import { ForeignStore, isEmpty, migrate, refuseForeign } from './migrate.ts'
import { organisationStore } from './organisation.ts'
import { replayStore } from './replay.ts'
import { requireRoom } from './require-room.ts'
import { removeRestoreFiles } from './restore-files.ts'
import { retentionStore } from './retention.ts'
import { scrubStore } from './scrub.ts'
import { secretStore } from './secret.ts'
import { sessionStore } from './session.ts'
import { signInStore } from './sign-in.ts'
import { subjectStore } from './subject.ts'
import { exportStore } from './subject-export.ts'
import { searchStore } from './subject-search.ts'
import { tombstoneStore } from './tombstone.ts'
import { trackerStore } from './tracker.ts'
import { transferStore } from './transfer.ts'
import { writeHere } from './write-here.ts'
import { writeInThread } from './write-in-thread.ts'
import { Writer } from './writer.ts'

interface SqliteOptions {
  /** Whether this process keeps all others from it. */
  isHeld?: boolean
  /** As in `OpenOptions`. */
  writesHere?: boolean
}

/** Opens the embedded store in a file, created or upgraded as needed. Reads happen here, writes in a thread of their own unless told otherwise. */
export async function openSqliteStore(
  path: string,
  { isHeld = false, writesHere = false }: SqliteOptions = {},
): Promise<Store> {
  const letGo = isHeld ? () => {} : orSayWhy(path, () => hold(path))
  try {
    prepare(path)
    if (!isHeld) removeRestoreFiles(path)
  } catch (error) {
    letGo()
    throw error
  }
  const reader = openReader(path)
  const snapshots = new ExportSnapshots()
  const writer = new Writer(path, writesHere ? writeHere : writeInThread, (isWanted) =>
    snapshots.noteLogWanted(isWanted),
  )
  const connections: Connections<Commands> = { path, reader, writer }
  const anything = reader.prepare('SELECT 1 FROM organisations LIMIT 1')
  return {
    organisations: organisationStore(connections),
    trackers: trackerStore(connections),
    apiKeys: apiKeyStore(connections),
    subjects: subjectStore(connections),
    search: searchStore(connections),
    exports: exportStore(connections, snapshots),
    sessions: sessionStore(connections),
    events: eventStore(connections),
    ingest: ingestStore(connections),
    derivation: derivationStore(connections),
    dailyTotals: dailyTotalStore(connections),
    retention: retentionStore(connections),
    deletions: deletionStore(connections),
    maintenance: {
      ...scrubStore(connections),
      alone: (work) => alone(path, work),
      backup: (file) => writer.run('backup', file),
      distribute,
    },
    transfer: transferStore(connections),
    replay: replayStore(connections),
    members: memberStore(connections),
    signIns: signInStore(connections),
    activity: activityStore(connections),
    erasureBatches: erasureBatchStore(connections),
    tombstones: tombstoneStore(connections),
    ledger: ledgerStore(connections),
    secrets: secretStore(connections),
    batchReads: (reads) => snapshot(reader, reads),
    async ping() {
      anything.get()
      await requireRoom(path)
      await writer.requireWritable()
    },
    prepareToWrite: () => writer.run('getReady'),
    logHeldMs: () => writer.logHeldMs(),
    async close() {
      await writer.close()
      reader.close()
      letGo()
    },
  }
}

/** Whether a file holds a store; an empty one does not. Only looks, and throws for what could not be opened as one. */
export function sqliteStoreExists(path: string): boolean {
  return orSayWhy(path, () => {
    // Unlike a folder that may not be looked into, which throws, a file that is not there is an answer.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return false
    return withConnection(openReader(path), (db) => {
      refuseForeign(db, path)
      return !isEmpty(db)
    })
  })
}

function hold(path: string): () => void {
  // Nothing is put beside what is none of ours.
  if (existsSync(path)) withConnection(openReader(path), (db) => refuseForeign(db, path))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return holdStore(path)
}

/** Creates or upgrades the store. To open it for writing is to change it: whose it is must be known before. */
function prepare(path: string): void {
  orSayWhy(path, () => {
    withConnection(openWriter(path), (db) => migrate(db, path))
  })
}

/** Does `work` on a store. What goes wrong is thrown as a line for whoever runs the program. */
function orSayWhy<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof ForeignStore) throw error
    const reason = unwritableFolder(path) ?? (error instanceof Error ? error.message : error)
    throw new Error(`Cannot open the store ${path}: ${reason}.`, { cause: error })
  }
}

/** Says that the folder of a store may not be written to, which SQLite and Node would put less clearly; `null` where it may. */
function unwritableFolder(path: string): string | null {
  let folder = dirname(path)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
    return null
  } catch {
    return `the folder ${folder} may not be written to, and a store needs to write there`
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
    'The embedded store lives on one machine. Set LETHE_STORE to a PostgreSQL with the Citus extension.',
  )
}
