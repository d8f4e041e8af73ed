import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { LetheError } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'
import { transferTables } from '../transfer-tables.ts'
import { activityQueries } from './activity.ts'
import { alone } from './alone.ts'
import { apiKeyQueries } from './api-key.ts'
import { cacheUntilWrite } from './cache-until-write.ts'
import { openReader, openWriter, snapshot } from './connection.ts'
import { dailyTotalQueries } from './daily-total.ts'
import { deletionQueries } from './deletion.ts'
import { eventQueries } from './event.ts'
import { memberQueries } from './member.ts'
import { ForeignStore, isEmpty, migrate, refuseForeign } from './migrate.ts'
import { organisationQueries } from './organisation.ts'
import { packRows } from './packed-rows.ts'
import { requireRoom } from './require-room.ts'
import { retentionQueries } from './retention.ts'
import { retentionWindowQueries } from './retention-window.ts'
import { scrubInPieces, scrubQueries } from './scrub.ts'
import { sessionQueries } from './session.ts'
import { signInQueries } from './sign-in.ts'
import { subjectQueries } from './subject.ts'
import { trackerQueries, trackerVisibility } from './tracker.ts'
import { transferQueries } from './transfer.ts'
import { Writer } from './writer.ts'

/** Opens the embedded store in a file, created or upgraded as needed. Reads happen here, writes in a thread of their own. */
export async function openSqliteStore(path: string): Promise<Store> {
  prepare(path)
  const db = openReader(path)
  const writer = new Writer(path)
  const cached = cacheUntilWrite(db)
  const isVisible = trackerVisibility(db)
  const organisations = organisationQueries(db)
  const trackers = trackerQueries(db)
  const apiKeys = apiKeyQueries(db, cached)
  const subjects = subjectQueries(db, isVisible)
  const sessions = sessionQueries(db, isVisible)
  const events = eventQueries(db, isVisible)
  const dailyTotals = dailyTotalQueries(db, isVisible)
  const retention = retentionQueries(db)
  const deletions = deletionQueries(db)
  const windows = retentionWindowQueries(db)
  const scrubs = scrubQueries(db)
  const transfer = transferQueries(db)
  const members = memberQueries(db)
  const signIns = signInQueries(db)
  const activity = activityQueries(db)
  const anything = db.prepare('SELECT 1 FROM organisations LIMIT 1')
  return {
    organisations: {
      create: (organisation, windows) => writer.run('createOrganisation', organisation, windows),
      find: async (id) => organisations.find(id),
      list: async () => organisations.list(),
      setPlan: (id, plan, note) => writer.run('setPlan', id, plan, note),
      rename: (id, name, note) => writer.run('renameOrganisation', id, name, note),
    },
    trackers: {
      create: (tracker, note) => writer.run('createTracker', tracker, note),
      find: async (id) => trackers.find(id),
      list: async (organisationId) => trackers.list(organisationId),
      rename: (tracker, name, note) => writer.run('renameTracker', tracker, name, note),
    },
    apiKeys: {
      create: (key, hash, note) => writer.run('createApiKey', key, hash, note),
      find: async (id) => apiKeys.find(id),
      findCaller: apiKeys.findCaller,
      list: async (organisationId) => apiKeys.list(organisationId),
      rotate: (id, proof, now, note) => writer.run('rotateApiKey', id, proof, now, note),
      revoke: (id, now, note) => writer.run('revokeApiKey', id, now, note),
      rename: (key, name, now, note) => writer.run('renameApiKey', key, name, now, note),
      touch: (lastUsed) => writer.run('touchApiKeys', lastUsed),
    },
    subjects: {
      list: subjects.list,
      read: subjects.read,
      count: async (view, atMost) => subjects.count(view, atMost),
      async erase(view, subjectId, note) {
        const [outcome = null] = await writer.run('eraseSubjects', [{ view, subjectId, note }])
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    },
    sessions,
    events,
    ingest: {
      async ingest(batch) {
        const pieces = packRows(batch)
        return writer.runMoving(pieces, 'ingest', pieces)
      },
    },
    dailyTotals,
    retention: {
      // Mostly there is nothing to do, here and below, and then the writer is not disturbed.
      async settleWindows(settling) {
        const settled = windows.settled(settling)
        return settled.changed.length === 0 ? settled.windows : writer.run('settleWindows', settling)
      },
      sweep: async (trackerId, step) =>
        retention.hasAged(trackerId, step)
          ? writer.run('sweep', trackerId, step)
          : { subjects: 0, sessions: 0, events: 0, isDone: true },
      sweepActivity: async (organisationId, step) =>
        activity.hasAged(organisationId, step)
          ? writer.run('sweepActivity', organisationId, step)
          : { entries: 0, isDone: true },
      countBefore: async (trackerId, since) => retention.countBefore(trackerId, since),
      countActivityBefore: async (organisationId, since) => activity.countBefore(organisationId, since),
    },
    deletions: {
      deleteTracker: (tracker, name, now, note) => writer.run('deleteTracker', tracker, name, now, note),
      deleteOrganisation: (id, name, now, note) => writer.run('deleteOrganisation', id, name, now, note),
      listTrackers: async () => deletions.listTrackers(),
      listOrganisations: async () => deletions.listOrganisations(),
      count: async (trackerId) => deletions.count(trackerId),
      removeTracker: (trackerId, maxRows) => writer.run('removeTracker', trackerId, maxRows),
      removeOrganisation: (id) => writer.run('removeOrganisation', id),
    },
    members: {
      create: (member, invitation, note) => writer.run('createMember', member, invitation, note),
      find: async (organisationId, id) => members.find(organisationId, id),
      findByEmail: async (email, organisationId) => members.findByEmail(email, organisationId),
      list: async (organisationId) => members.list(organisationId),
      invite: (id, invitation, note) => writer.run('inviteMember', id, invitation, note),
      findInvited: async (tokenHash, now) => members.findInvited(tokenHash, now),
      setPassword: (tokenHash, hash, now, note) => writer.run('setPassword', tokenHash, hash, now, note),
      remove: (organisationId, id, note) => writer.run('removeMember', organisationId, id, note),
    },
    signIns: {
      begin: (signIn, passwordSetAt, note) => writer.run('beginSignIn', signIn, passwordSetAt, note),
      find: async (tokenHash) => signIns.find(tokenHash),
      touch: (tokenHash, now) => writer.run('touchSignIn', tokenHash, now),
      end: (tokenHash, note) => writer.run('endSignIn', tokenHash, note),
      endAll: (memberId, note) => writer.run('endAllSignIns', memberId, note),
    },
    activity: {
      add: (note) => writer.run('addActivity', note),
      list: async (organisationId, query) => activity.list(organisationId, query),
    },
    maintenance: {
      alone: (work) => alone(path, work),
      noteSweep: (begunAt) => writer.run('noteSweep', begunAt),
      scrubState: async () => scrubs.scrubState(),
      scrubsEveryByte: true,
      scrub: (now, options) => scrubInPieces(path, writer, scrubs.scrubScope(), now, options),
      backup: (file) => writer.run('backup', file),
      async distribute() {
        throw new LetheError(
          'invalid_request',
          'The embedded store lives on one machine. Set LETHE_STORE to a PostgreSQL with the Citus extension.',
        )
      },
    },
    transfer: {
      tables: transferTables,
      count: async (table) => transfer.count(table),
      read: async (table, after, limit) => transfer.read(table, after, limit),
      add: (table, rows) => writer.run('addRows', table, rows),
      adoptScrubState: (state) => writer.run('adoptScrubState', state),
    },
    batchReads: (reads) => snapshot(db, reads),
    async ping() {
      anything.get()
      await requireRoom(path)
      await writer.requireWritable()
    },
    prepareToWrite: () => writer.run('getReady'),
    logHeldMs: () => writer.logHeldMs(),
    async close() {
      await writer.close()
      db.close()
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

/** Creates or upgrades the store. */
function prepare(path: string): void {
  orSayWhy(path, () => {
    // To open it for writing is to change it: whose it is must be known before.
    if (existsSync(path)) withConnection(openReader(path), (db) => refuseForeign(db, path))
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
