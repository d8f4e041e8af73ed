import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { Client } from 'pg'
import { readConfig } from '../../src/config.ts'
import { earliestInstant } from '../../src/domain/instant.ts'
import { KnownChanges } from '../../src/domain/journal.ts'
import type { Services } from '../../src/domain/services.ts'
import { FileJournal } from '../../src/journal.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { readChanges } from '../../src/operations/journal-changes.ts'
import { readLedger } from '../../src/operations/ledger.ts'
import { openServices } from '../../src/start.ts'
import { assertRefused, type CommandLine, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { freshStore } from '../support/fresh-database.ts'
import { emails, recordNothingHeld } from '../support/nothing-held.ts'
import { preparedStore } from '../support/prepared-store.ts'
import { at } from '../support/rows.ts'
import { visit } from '../support/shop.ts'
import { testSecretFile, unrelatedKeys } from '../support/test-keyring.ts'

interface Place {
  cli: CommandLine
  inStore<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** Changes the store directly. */
  tamper(sql: string): Promise<void>
}

type Open = (t: TestContext) => Promise<Place>

const view = { organisationId: 'acme', trackerId: 'shop', since: earliestInstant }

const withLedger = preparedStore(async (cli) => {
  copyFileSync(testSecretFile(), join(cli.folder, 'lethe.secret'))
  await makeLedger(cli, `sqlite:${cli.storePath}`)
})

const onSqlite: Open = async (t) => {
  const cli = await withLedger(t)
  return placeOf(cli, `sqlite:${cli.storePath}`, async (sql) => {
    const db = new DatabaseSync(cli.storePath)
    db.exec(sql)
    db.close()
  })
}

const onPostgres: Open = async (t) => {
  const url = await freshStore(t)
  const cli = commandLine(t, url)
  await makeLedger(cli, url)
  return placeOf(cli, url, async (sql) => {
    const client = new Client(url)
    await client.connect()
    await client.query(sql)
    await client.end()
  })
}

/** Creates a store whose ledger has five erasures. */
async function makeLedger(cli: CommandLine, store: string): Promise<void> {
  await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme'])
  await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'shop'])
  await placeOf(cli, store, assert.fail).inStore((services) => erase(services, 5))
}

async function erase(services: Services, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, number) => `visitor-${number}`)
  await services.ingest.ingest(
    ids.flatMap((id) => visit(id)),
    services.keyring.tombstoneKeys,
  )
  for (const id of ids) await eraseSubject(services, view, id)
}

function placeOf(cli: CommandLine, store: string, tamper: Place['tamper']): Place {
  const config = readConfig({ LETHE_STORE: store, LETHE_SECRET_FILE: testSecretFile() })
  return {
    cli,
    tamper,
    async inStore(work) {
      const services = await openServices(config, { writesHere: true })
      try {
        return await work(services)
      } finally {
        await services.close()
      }
    },
  }
}

/** Writes the checkpoint of a ledger to a file. */
async function noteCheckpoint({ cli, inStore }: Place): Promise<{ file: string; checkpoint: string }> {
  const { checkpoint } = await inStore((services) => readLedger(services, 'acme'))
  const file = join(cli.folder, 'checkpoint')
  writeFileSync(file, checkpoint)
  return { file, checkpoint }
}

for (const [engine, open] of [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const) {
  describe(`lethe ledger verify on ${engine}`, { concurrency: true }, () => {
    it('reports an intact ledger, and a deleted entry', async (t) => {
      const place = await open(t)
      const { code, stdout } = await place.cli.run(['ledger', 'verify'])
      assert.equal(
        stdout,
        'acme: the tree is intact, with 5 entries.\nacme: no stored data is older than its tombstone.\n',
      )
      assert.equal(code, 0)
      const json = onlyJson(await place.cli.run(['ledger', 'verify', '--org', 'acme', '--json']))
      const { checkpoint, rootHash } = await place.inStore((services) => readLedger(services, 'acme'))
      const sound = { problem: null, olderCount: 0, older: [] }
      const root = Buffer.from(rootHash).toString('base64')
      assert.deepEqual(json, {
        isSound: true,
        ledgers: [{ orgId: 'acme', size: 5, rootHash: root, checkpoint, ...sound }],
      })
      await place.tamper('DELETE FROM ledger_entries WHERE ledger_index = 1')
      const damaged = await place.cli.run(['ledger', 'verify'])
      assert.match(damaged.stdout, /Entry 1 is missing/)
      assert.equal(damaged.code, 1)
    })

    it('accepts no-data entries, which have no tombstone', async (t) => {
      const place = await open(t)
      const [proven] = await place.inStore((services) =>
        recordNothingHeld(services, 'acme', emails('ada@b.c')),
      )
      const file = join(place.cli.folder, 'receipt')
      writeFileSync(file, proven?.receipt ?? '')
      const { stdout, code } = await place.cli.run(['ledger', 'verify', '--receipt', file])
      assert.match(stdout, /the tree is intact, with 6 entries/)
      assert.equal(code, 0)
      await place.tamper(`UPDATE ledger_entries SET record = replace(record, '"version":2', '"version":3')`)
      assert.match((await place.cli.run(['ledger', 'verify'])).stdout, /Entry 5 is not a valid record\./)
    })

    it('reports data older than its tombstone, and ignores data that arrived later', async (t) => {
      const place = await open(t)
      await place.inStore(async ({ ingest, keyring, secrets }) => {
        const later = Date.now() + 3_600_000
        await ingest.ingest(visit('visitor-1', { sessionId: 's2', startedAt: later }), keyring.tombstoneKeys)
        // Keys without tombstones, as if ingest did not check them.
        const blind = await unrelatedKeys({ secrets })
        await ingest.ingest(visit('visitor-2', { events: 3 }), blind)
        await ingest.ingest(visit('visitor-2', { sessionId: 's2', startedAt: later }), blind)
      })
      const { code, stdout } = await place.cli.run(['ledger', 'verify', '--json'])
      const [summary] = jsonLines(stdout)
      const [ledger] = Array.isArray(summary?.ledgers) ? summary.ledgers : []
      assert.equal(code, 1)
      assert.equal(ledger.olderCount, 1)
      assert.partialDeepStrictEqual(ledger.older, [
        { trackerId: 'shop', subjectId: 'visitor-2', sessions: 1, events: 3 },
      ])
    })
  })
}

describe('lethe ledger verify', { concurrency: true }, () => {
  const damages: [what: string, sql: string, problem: RegExp][] = [
    [
      'a record that was changed',
      `UPDATE ledger_entries SET record = replace(record, '"events":1', '"events":0') WHERE ledger_index = 2`,
      /hashes stored with entry 2 /,
    ],
    ['an invalid record', `UPDATE ledger_entries SET record = '{}' WHERE ledger_index = 4`, /Entry 4 is not/],
    [
      'hashes that were changed',
      `UPDATE ledger_entries SET edge = (SELECT edge FROM ledger_entries WHERE ledger_index = 0) WHERE ledger_index = 2`,
      /hashes stored with entry 2 /,
    ],
  ]
  for (const [what, sql, problem] of damages) {
    it(`reports ${what}`, async (t) => {
      const place = await onSqlite(t)
      await place.tamper(sql)
      const outcome = await place.cli.run(['ledger', 'verify', '--json'])
      const [summary] = jsonLines(outcome.stdout)
      assert.match(JSON.stringify(summary?.ledgers), problem)
      assert.equal(summary?.isSound, false)
      assert.deepEqual([outcome.code, outcome.stderr.includes('1 ledger is damaged')], [1, true])
    })
  }

  it('detects entries deleted from the end by their tombstones, a checkpoint or a receipt', async (t) => {
    const place = await onSqlite(t)
    const { file } = await noteCheckpoint(place)
    const kept = join(place.cli.folder, 'kept.receipt')
    const { receipt } = await place.inStore((services) => eraseSubject(services, view, 'visitor-7'))
    writeFileSync(kept, `${receipt}\n`)
    const both = ['ledger', 'verify', '--checkpoint', file, '--receipt', kept]
    assert.equal((await place.cli.run(both)).code, 0)
    await place.tamper('DELETE FROM ledger_entries WHERE ledger_index >= 3')
    const alone = await place.cli.run(['ledger', 'verify'])
    assert.match(alone.stdout, /3 tombstones have no entry/)
    await place.tamper('DELETE FROM tombstones WHERE ledger_index >= 3')
    assert.equal((await place.cli.run(['ledger', 'verify'])).code, 0)
    for (const [option, path, size] of [
      ['--checkpoint', file, 5],
      ['--receipt', kept, 6],
      ['--checkpoint', kept, 6],
    ] as const) {
      const { code, stdout } = await place.cli.run(['ledger', 'verify', option, path])
      assert.match(stdout, new RegExp(`has 3 entries, but had ${size} when.*set back`))
      assert.equal(code, 1)
    }
  })

  it('reports an entry without a tombstone, unless it is older than tombstones are kept', async (t) => {
    const place = await onSqlite(t)
    const old = at('2015-01-01T00:00:00.000Z')
    await place.inStore((services) => eraseSubject({ ...services, clock: () => old }, view, 'visitor-8'))
    await place.tamper('DELETE FROM tombstones WHERE ledger_index = 5')
    assert.equal((await place.cli.run(['ledger', 'verify'])).code, 0)
    await place.tamper('DELETE FROM tombstones WHERE ledger_index = 2')
    const { code, stdout } = await place.cli.run(['ledger', 'verify'])
    assert.match(stdout, /Entry 2 has no tombstone/)
    assert.equal(code, 1)
  })

  it('compares a ledger with the configured journal, or with the given ones', async (t) => {
    const place = await onSqlite(t)
    const journal = join(place.cli.folder, 'lethe.journal')
    const file = new FileJournal(journal)
    await place.inStore(async (services) => {
      for await (const lines of readChanges(services, new KnownChanges())) await file.append(lines)
    })
    const configured = { env: { LETHE_JOURNAL: journal } }
    assert.equal((await place.cli.run(['ledger', 'verify'], configured)).code, 0)
    const lines = readFileSync(journal, 'utf8').split('\n')
    const without = (text: string) => lines.filter((line) => !line.includes(text)).join('\n')
    writeFileSync(journal, without('"index":3'))
    const gap = await place.cli.run(['ledger', 'verify', '--journal', journal])
    assert.match(gap.stdout, /The journal lacks entry 3/)
    // The next start appends entries that are missing at the end.
    writeFileSync(journal, without('"index":4'))
    assert.equal((await place.cli.run(['ledger', 'verify'], configured)).code, 0)
    writeFileSync(journal, lines.join('\n').replaceAll('\\"events\\":1', '\\"events\\":2'))
    const other = await place.cli.run(['ledger', 'verify'], configured)
    assert.match(other.stdout, /Entry 0 differs from the journal/)
    assert.deepEqual([gap.code, other.code], [1, 1])
  })

  it('detects a rewritten ledger with an earlier checkpoint', async (t) => {
    const place = await onSqlite(t)
    const { file } = await noteCheckpoint(place)
    await place.tamper('DELETE FROM ledger_entries; DELETE FROM tombstones')
    await place.inStore((services) => erase(services, 6))
    assert.equal((await place.cli.run(['ledger', 'verify'])).code, 0)
    const { code, stdout } = await place.cli.run(['ledger', 'verify', '--checkpoint', file])
    assert.match(stdout, /The first 5 entries do not match/)
    assert.equal(code, 1)
  })

  it('rejects the checkpoint of another ledger, and a receipt that proves nothing', async (t) => {
    const place = await onSqlite(t)
    const { file, checkpoint } = await noteCheckpoint(place)
    for (const [text, reason] of [
      ['nonsense', /no checkpoint/],
      [checkpoint.replace('acme', 'other'), /not a ledger of this store/],
      [checkpoint.replace('\n5\n', '\n6\n'), /was not signed/],
    ] as const) {
      writeFileSync(file, text)
      assertRefused(await place.cli.run(['ledger', 'verify', '--checkpoint', file]), 1, reason)
    }
    const { receipt } = await place.inStore((services) => eraseSubject(services, view, 'visitor-7'))
    writeFileSync(file, receipt.replace(/\nindex \d+\n/, '\nindex 4\n'))
    assertRefused(await place.cli.run(['ledger', 'verify', '--receipt', file]), 1, /cannot be compared/)
    assertRefused(await place.cli.run(['ledger', 'verify', '--checkpoint', `${file}-none`]), 1, /ENOENT/)
    assertRefused(
      await place.cli.run(['ledger', 'verify', '--journal', `${file}-none`]),
      1,
      /ENOENT|no journal/,
    )
    assertRefused(await place.cli.run(['ledger', 'verify', '--org', 'nobody']), 1, /no organisation/)
  })
})
