import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, mock } from 'node:test'
import type { SubjectQuery } from '../../../src/domain/subject.ts'
import { eventsByDay } from '../../../src/storage/nouns/daily-total.ts'
import { allWindows } from '../../../src/storage/nouns/retention.ts'
import { findOpenOrganisations } from '../../../src/storage/nouns/single-sign-on.ts'
import { statements as sharedStatements } from '../../../src/storage/nouns/statement.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { statementRunner } from '../../../src/storage/sqlite/connections.ts'
import { commands } from '../../../src/storage/sqlite/message-handler.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { always, sessionRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testKeys } from '../../support/test-keyring.ts'

const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

/**
 * Scans that are allowed: of tables with few rows (organisations, windows, scrubs), for an operator, for a
 * ledger verification, and for one pass after an upgrade.
 */
const allowedToScan: readonly (string | null)[] = [
  'SELECT id, name, plan, created_at FROM organisations WHERE deleted_at IS NULL ORDER BY created_at, id',
  'SELECT id, name, plan, created_at FROM organisations WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
  'SELECT id, organisation_id, name, created_at FROM trackers WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id',
  'SELECT 1 FROM organisations LIMIT 1',
  allWindows.sqlite,
  findOpenOrganisations.sqlite,
  eventsByDay.sqlite,
  'SELECT * FROM scrubs',
  'SELECT fingerprint FROM secrets ORDER BY fingerprint',
  'SELECT reason, lines FROM refused_lines',
  'SELECT organisation_id, max(ledger_index) AS ledger_index FROM ledger_entries GROUP BY organisation_id',
  'UPDATE scrubs SET deletions = deletions + 1',
  'UPDATE scrubs SET scrubbed_deletions = ?, scrubbed_at = ?',
  'UPDATE scrubs SET scrubbed_at = ?1, deletions = max(deletions, scrubbed_deletions + ?2)',
]

/** Groups by session cover only the rows that the same step deletes; groups by name at most 20,000 rows. */
const allowedToGroup = /GROUP BY session_id$|LIMIT 20000\) AS latest GROUP BY name$/

/** Every kind of query for a page of subjects. */
function subjectQueries(): SubjectQuery[] {
  const plain = { limit: 50, subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const queries: SubjectQuery[] = []
  for (const after of [null, { subjectId: 'a', lastSeenAt: 1 }]) {
    for (const subjectIdPrefix of [null, 'a', '\u{10ffff}']) {
      queries.push({ ...plain, sort: 'subjectId', after, subjectIdPrefix })
    }
    for (const sort of ['lastSeenAt', '-lastSeenAt'] as const) {
      for (const lastSeenAfter of [null, 1]) {
        for (const lastSeenBefore of [null, 9]) {
          queries.push({ ...plain, sort, after, lastSeenAfter, lastSeenBefore })
        }
      }
    }
  }
  return queries
}

/** Makes a new store prepare all its statements. Returns their texts. */
async function everyStatement(path: string): Promise<string[]> {
  const prepare = mock.method(DatabaseSync.prototype, 'prepare')
  const store = await openSqliteStore(path, { writesHere: true })
  await addShop(store)
  await store.ingest.ingest([sessionRow({ subjectId: 'anna', sessionId: 's' })], testKeys)
  for (const query of subjectQueries()) assert.ok(await store.subjects.list(tracker, query))
  const sought = [{ identifier: { name: 'email', value: 'a' } }, { subjectId: 'a' }]
  for (const each of sought) await store.search.subjects(tracker, { sought: each, limit: 9, after: null })
  for (const kind of [null, 'key.created'] as const) {
    for (const actor of [null, 'mem_1', 'command-line']) {
      for (const requestId of [null, 'req'])
        await store.activity.list('acme', { limit: 9, after: null, kind, actor, requestId })
    }
  }
  for (const state of [null, 'open', 'pending'] as const) {
    for (const kind of [null, 'access'] as const) {
      for (const assigneeId of [undefined, null, 'mem_1']) {
        for (const isLatestFirst of [false, true]) {
          const filters = { state, kind, isLatestFirst, dueBefore: null }
          const assigned = assigneeId === undefined ? { isGrouped: true } : { assigneeId }
          for (const each of [filters, { ...filters, ...assigned }])
            await store.privacyRequests.list('acme', { limit: 9, after: null, ...each })
        }
      }
    }
  }
  for (const table of store.transfer.tables) {
    const kinds = { text: 'a', integer: 1, key: '00' }
    const key = table.columns.slice(0, table.keyLength).map(({ kind }) => kinds[kind])
    await store.transfer.read(table, key, 10)
  }
  await store.close()
  const writer = openWriter(path)
  commands(writer, statementRunner(writer))
  writer.close()
  const shared = sharedStatements().flatMap(({ sqlite }) => sqlite ?? [])
  const texts = [...prepare.mock.calls.map((call) => call.arguments[0]), ...shared]
  prepare.mock.restore()
  const statements = [...new Set(texts)].filter((sql) => /^\s*(WITH|SELECT|UPDATE|DELETE|INSERT)/.test(sql))
  return statements.filter((sql) => !sql.includes('sqlite_schema'))
}

function planOf(db: DatabaseSync, sql: string): string[] {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))
}

describe('every statement of the embedded store', () => {
  const lifetime = inReverse({ after })
  let statements: readonly string[]
  let db: DatabaseSync
  before(async () => {
    const path = join(temporaryFolder(lifetime), 'lethe.db')
    statements = await everyStatement(path)
    db = new DatabaseSync(path)
    lifetime.after(() => db.close())
  })

  it('uses an index: it scans no table and sorts nothing', () => {
    for (const sql of statements) {
      if (allowedToScan.includes(sql)) continue
      const plan = planOf(db, sql).filter(
        (step) => !(allowedToGroup.test(sql) && step === 'USE TEMP B-TREE FOR GROUP BY'),
      )
      for (const step of plan)
        assert.doesNotMatch(
          step,
          /\bSCAN (?!CONSTANT ROW|\(subquery|json_each|latest|added|counted|listed)|TEMP B-TREE/,
          `${sql}\n${plan}`,
        )
      if (!sql.startsWith('INSERT')) assert.match(plan.join('\n'), /\bSEARCH\b/, sql)
    }
    for (const sql of allowedToScan)
      assert.ok(sql !== null && statements.includes(sql), `${sql} is still there`)
    // The current number: fewer would mean that this test misses some.
    assert.ok(statements.length >= 95, `${statements.length} statements were seen`)
  })

  it('that lists the events of a session among many others seeks only to them', () => {
    const ofSession = statements.filter((sql) => /\sWHERE interleaved = 1/.test(sql))
    assert.equal(ofSession.length, 3)
    for (const sql of ofSession) {
      const [step, ...others] = planOf(db, sql)
      assert.match(
        step ?? '',
        /^SEARCH events USING (COVERING )?INDEX events_by_session \(subject_key=\? AND session_id=\? AND .*occurred_at/,
        sql,
      )
      assert.deepEqual(others, [])
    }
  })

  it('that lists subjects seeks to both ends of its page', () => {
    const lists = statements.filter((sql) => /FROM subjects WHERE tracker_id = .* ORDER BY/.test(sql))
    assert.equal(lists.length, 12)
    for (const sql of lists) {
      const conditions = sql.replace(/^.* WHERE | ORDER BY .*$/g, '').split(' AND ')
      const plan = planOf(db, sql).join('\n')
      assert.ok(conditions.length <= 3, sql)
      // SQLite lists the conditions of a seek in parentheses. It checks all others row by row.
      for (const condition of conditions) {
        const sought = condition.replace('>=', '>').replace('<=', '<').replaceAll(' ', '')
        assert.ok(plan.replaceAll(' ', '').includes(sought), `${condition} in ${plan}`)
      }
    }
  })

  it('that counts open requests reads only an index', () => {
    const counts = statements.filter((sql) => sql.includes('AS due_soon'))
    assert.equal(counts.length, 1)
    const steps = counts.flatMap((sql) => planOf(db, sql)).filter((step) => step.startsWith('SEARCH'))
    assert.equal(steps.length, 5)
    for (const step of steps) assert.match(step, /^SEARCH privacy_requests USING COVERING INDEX/)
  })

  it('that lists requests as groups seeks from group to group, and skips the rest of each', () => {
    const ofGroups = statements.filter((sql) => sql.includes('WITH RECURSIVE listed'))
    assert.equal(ofGroups.length, 6)
    for (const sql of ofGroups) {
      const plan = planOf(db, sql).join('\n')
      assert.match(plan, /USING COVERING INDEX privacy_requests_sharing \(.* AND reference>\?\)/)
      assert.match(
        plan,
        /by_reference_and_state_and_kind_and_due \(.* AND reference=\? AND state=\? AND kind=\?\)/,
      )
    }
    const alone = statements.filter((sql) => sql.includes('INDEXED BY privacy_requests_alone'))
    assert.equal(alone.length, 12)
  })

  it('that sums a group reads only an index', () => {
    const sums = statements.filter((sql) => sql.includes('AS resting'))
    assert.equal(sums.length, 1)
    for (const sql of sums)
      assert.match(planOf(db, sql).join(), /^SEARCH privacy_requests USING COVERING INDEX[^,]*$/)
  })
})
