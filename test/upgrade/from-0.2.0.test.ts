import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { verifyCheckpoint, verifyConsistency, verifyReceipt } from '@lethe/client'
import { Client } from 'pg'
import { addMonths } from '../../src/domain/instant.ts'
import { identifiersOf, people } from '../fixtures/0.2.0/data.ts'
import { dataOf, isObject, listIn, textIn } from '../support/answers.ts'
import { citusPrograms } from '../support/citus.ts'
import { type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { type ConsoleClient, visitor } from '../support/console.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { type Lifetime, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { oldCluster } from './old-cluster.ts'

// Both engines hold the same hash of the same password.
after(scryptOnce())

interface Manifest {
  /** When the answers were recorded: at another time, other data would have aged out. */
  recordedAt: string
  member: { email: string; password: string }
  batches: { running: string; paused: string }
  /** The ledger's key before the secret was rotated, and all its keys afterwards. */
  firstKey: string
  verifierKeys: string[]
  checkpoints: string[]
  receipts: { subjectId: string; receipt: string }[]
  keys: { acme: string; globex: string; renewed: string }
  refused: { rotated: string; revoked: string }
}

interface OldAnswer {
  org: 'acme' | 'globex'
  path: string
  status: number
  data?: object
}

/** A store of 0.2.0, with its secret file and journal. */
interface OldStore {
  cli: CommandLine
  env: { LETHE_STORE: string; LETHE_SECRET_FILE: string; LETHE_JOURNAL: string }
  manifest: Manifest
  answers: OldAnswer[]
}

/** The files of 0.2.0 on an engine. */
interface Engine {
  skip?: string | false
  /** The store as 0.2.0 left it. */
  openStore(t: Lifetime): Promise<OldStore>
  /** The backup from before the last changes, restored with the journal by a command. */
  restoreBackup(t: Lifetime): Promise<OldStore>
  /** The same backup in place of the store, with a journal that is ahead. */
  setBack(t: Lifetime): Promise<OldStore>
}

function fixtureIn(engine: string) {
  const read = (file: string) => readFileSync(new URL(`../fixtures/0.2.0/${engine}/${file}`, import.meta.url))
  return { read, unpack: (file: string) => gunzipSync(read(file)) }
}

function filesOf(cli: CommandLine, address: string, engine: string): OldStore {
  const { read, unpack } = fixtureIn(engine)
  const pathOf = (file: string) => join(cli.folder, file)
  writeFileSync(pathOf('lethe.secret'), read('secret.txt'), { mode: 0o600 })
  writeFileSync(pathOf('lethe.journal'), read('journal.ndjson'), { mode: 0o600 })
  const files = { LETHE_SECRET_FILE: pathOf('lethe.secret'), LETHE_JOURNAL: pathOf('lethe.journal') }
  const answers = unpack('answers.ndjson.gz').toString().trimEnd().split('\n')
  return {
    cli,
    env: { LETHE_STORE: address, ...files },
    manifest: JSON.parse(read('manifest.json').toString()),
    answers: answers.map((line) => JSON.parse(line)),
  }
}

async function openDump(t: Lifetime, file: string): Promise<OldStore> {
  const address = await freshDatabase(t)
  const client = new Client(address)
  await client.connect()
  await client.query(fixtureIn('postgres').unpack(file).toString())
  await client.end()
  return filesOf(commandLine(t, address), address, 'postgres')
}

const citus = citusPrograms()

async function openDistributed(t: Lifetime, file: string): Promise<OldStore> {
  const address = await oldCluster(t, citus ?? '', { dump: file })
  return filesOf(commandLine(t, address), address, 'postgres')
}

async function replayJournal(store: OldStore): Promise<OldStore> {
  const { cli, env } = store
  const command = ['journal', 'replay', env.LETHE_JOURNAL, '--json']
  assert.partialDeepStrictEqual(onlyJson(await cli.run(command, { env })), sinceBackup)
  return store
}

const engines: Record<string, Engine> = {
  SQLite: {
    async openStore(t) {
      const cli = commandLine(t)
      writeFileSync(cli.storePath, fixtureIn('sqlite').unpack('store.db.gz'), { mode: 0o600 })
      return filesOf(cli, `sqlite:${cli.storePath}`, 'sqlite')
    },
    async restoreBackup(t) {
      const cli = commandLine(t)
      const { unpack } = fixtureIn('sqlite')
      const backup = join(cli.folder, 'backup.db')
      writeFileSync(backup, unpack('backup.db.gz'), { mode: 0o600 })
      writeFileSync(`${backup}.json`, unpack('backup.json.gz'))
      const store = filesOf(cli, `sqlite:${cli.storePath}`, 'sqlite')
      const { env } = store
      assert.equal((await cli.run(['backup', 'verify', backup], { env })).code, 0)
      const command = ['restore', backup, '--journal', env.LETHE_JOURNAL, '--json']
      assert.partialDeepStrictEqual(onlyJson(await cli.run(command, { env })), sinceBackup)
      return store
    },
    async setBack(t) {
      const cli = commandLine(t)
      writeFileSync(cli.storePath, fixtureIn('sqlite').unpack('backup.db.gz'), { mode: 0o600 })
      return filesOf(cli, `sqlite:${cli.storePath}`, 'sqlite')
    },
  },
  PostgreSQL: {
    openStore: (t) => openDump(t, 'store.sql.gz'),
    setBack: (t) => openDump(t, 'backup.sql.gz'),
    restoreBackup: async (t) => replayJournal(await openDump(t, 'backup.sql.gz')),
  },
  'a cluster': {
    skip: !citus && 'no Citus extension is installed',
    openStore: (t) => openDistributed(t, 'store.sql.gz'),
    setBack: (t) => openDistributed(t, 'backup.sql.gz'),
    restoreBackup: async (t) => replayJournal(await openDistributed(t, 'backup.sql.gz')),
  },
}

/** The changes since the backup: three erasures, one of them by a batch, and two changes to keys. */
const sinceBackup = {
  ...{ entries: 3, tombstones: 3, rotatedKeys: 1, revokedKeys: 1 },
  removed: { subjects: 3, sessions: 4, events: 5 },
}

/** The current service on a store of 0.2.0, with the clock at the time when the answers were recorded. */
function serve(t: Lifetime, { env, manifest }: OldStore): Promise<TestService> {
  const shiftMs = Date.parse(manifest.recordedAt) - Date.now()
  return startTestService(t, { LETHE_BATCH_PACE: '100/second', ...env }, { shiftMs })
}

const subjectPath = (trackerId: string, subjectId: string) =>
  `/v1/analytics/trackers/${trackerId}/subjects/${encodeURIComponent(subjectId)}`

function addMonthTo(instant: string): string {
  return new Date(addMonths(Date.parse(instant), 1)).toISOString()
}

async function assertKeys(service: TestService, { manifest: { keys, refused } }: OldStore): Promise<void> {
  const path = '/v1/analytics/trackers/shop/subjects'
  for (const key of [keys.acme, keys.renewed]) assert.equal((await service.ask(path, { key })).status, 200)
  for (const [state, key] of Object.entries(refused)) {
    assert.equal((await service.ask(path, { key })).status, 401, state)
  }
}

/**
 * Everyone who was erased can get a receipt for the same entry again, and the ledger extends each checkpoint.
 */
async function assertProofs(service: TestService, { manifest }: OldStore): Promise<void> {
  const key = manifest.keys.acme
  const { verifierKeys, checkpoints } = manifest
  for (const { subjectId, receipt } of manifest.receipts) {
    const proven = { verifierKeys: [manifest.firstKey], trackerId: 'shop', subjectId }
    const { record, index } = await verifyReceipt(receipt, proven)
    const { receipts } = dataOf(await service.ask(`${subjectPath('shop', subjectId)}/receipts`, { key }))
    const again = await Promise.all(
      listIn({ receipts }, 'receipts').map((each) =>
        verifyReceipt(textIn(each, 'receipt'), { ...proven, verifierKeys }),
      ),
    )
    assert.deepEqual(again.find((each) => each.index === index)?.record, record, subjectId)
  }
  for (const from of checkpoints) {
    const { size } = await verifyCheckpoint(from, { verifierKeys })
    const { checkpoint: to, proof } = dataOf(
      await service.ask(`/v1/analytics/ledger/consistency?from=${size}`, { key }),
    )
    const claim = { from, to: String(to), proof: listIn({ proof }, 'proof').map(String) }
    await verifyConsistency(claim, { verifierKeys })
  }
}

/** The ledger continues: another erasure has a receipt that can be verified with the first key. */
async function assertErases(service: TestService, { manifest, env }: OldStore): Promise<void> {
  const key = manifest.keys.acme
  const subjectId = '😀 family 👨‍👩‍👧'
  const erased = dataOf(await service.ask(subjectPath('shop', subjectId), { method: 'DELETE', key }))
  assert.equal(erased.alreadyErased, false)
  const receipt = textIn(erased, 'receipt')
  const { record } = await verifyReceipt(receipt, {
    ...{ verifierKeys: [manifest.firstKey], trackerId: 'shop', subjectId },
  })
  assert.equal(record.erasedAt, erased.erasedAt)
  assert.ok(readFileSync(env.LETHE_JOURNAL, 'utf8').includes(record.subject), 'the journal lacks the entry')
  assert.equal((await service.ask(subjectPath('shop', subjectId), { key })).status, 404)
}

/**
 * The ledger is valid, and matches its journal and everything that 0.2.0 issued, saved with an extra newline.
 */
async function assertVerified({ cli, env, manifest }: OldStore): Promise<void> {
  const save = (text: string, i: number, kind: string) => {
    const file = join(cli.folder, `${kind}-${i}.txt`)
    writeFileSync(file, `${text}\n`)
    return file
  }
  const checkpoints = manifest.checkpoints.map((text, i) => save(text, i, 'checkpoint'))
  const receipts = manifest.receipts.map(({ receipt }, i) => save(receipt, i, 'receipt'))
  const kept = ['--checkpoint', ...checkpoints, '--receipt', ...receipts]
  const command = ['ledger', 'verify', '--journal', env.LETHE_JOURNAL, ...kept, '--json']
  const verified = await cli.run(command, { env })
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)
}

for (const [name, engine] of Object.entries(engines)) {
  const { skip = false } = engine
  describe(`a store of 0.2.0 on ${name}`, { skip }, () => {
    const lifetime = inReverse({ after })
    let store: OldStore
    let service: TestService
    let anna: Omit<ConsoleClient, 'member'>
    before(async () => {
      store = await engine.openStore(lifetime)
      service = await serve(lifetime, store)
      anna = visitor(service)
    })

    it('answers as before', async () => {
      for (const { org, path, status, data } of store.answers) {
        const answer = await service.ask(path, { key: store.manifest.keys[org] })
        assert.equal(answer.status, status, path)
        // Fields and entries may have been added since.
        if (data) assert.partialDeepStrictEqual(dataOf(answer), data, path)
      }
    })

    it('accepts the keys and the members that it accepted', async () => {
      await assertKeys(service, store)
      const { member } = store.manifest
      assert.equal((await anna.ask('/sign-in', { method: 'POST', body: member })).status, 200)
      assert.partialDeepStrictEqual(dataOf(await anna.ask('/session')).member, { role: 'admin' })
      const members = listIn(dataOf(await anna.ask('/members')), 'members')
      assert.deepEqual(
        members.map((each) => textIn(each, 'role')),
        ['admin', 'admin'],
      )
    })

    it('finds people by their identifiers', async () => {
      for (const [name, value] of Object.entries(identifiersOf('half gone'))) {
        const written = name === 'email' ? value.toLowerCase() : value
        const found = await service.ask('/v1/analytics/subjects/search', {
          method: 'POST',
          key: store.manifest.keys.acme,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ identifier: { name, value: written } }),
        })
        const subjects = listIn(dataOf(found), 'subjects')
        assert.partialDeepStrictEqual(subjects, [{ trackerId: 'shop', subjectId: 'half gone' }])
        assert.equal(subjects.length, 1)
      }
    })

    it('verifies its receipts and checkpoints, and issues the receipts again', () =>
      assertProofs(service, store))

    it('continues an interrupted batch as requests with one reference, each erased once, and starts a paused one on demand', async () => {
      const { keys, batches } = store.manifest
      const group = async (reference: string) =>
        dataOf(await anna.ask(`/request-groups?reference=${reference}`))
      await until(async () => (await group(batches.running)).closedAt !== null)
      const done = await group(batches.running)
      assert.partialDeepStrictEqual(done, { counts: { done: 4 }, erased: { subjects: 4 } })
      for (const id of people.running)
        assert.equal((await service.ask(subjectPath('queue', id), { key: keys.acme })).status, 404)
      const { receipts } = dataOf(
        await service.ask(`${subjectPath('queue', people.running.at(-1) ?? '')}/receipts`, {
          key: keys.acme,
        }),
      )
      assert.equal(listIn({ receipts }, 'receipts').length, 1)
      assert.partialDeepStrictEqual(await group(batches.paused), { counts: { open: 2 }, startable: 2 })
      for (const id of people.paused)
        assert.equal((await service.ask(subjectPath('queue', id), { key: keys.acme })).status, 200)
      const body = { reference: batches.paused, requests: 2 }
      assert.equal((await anna.ask('/request-groups/start', { method: 'POST', body })).status, 200)
      await until(async () => (await group(batches.paused)).closedAt !== null)
      for (const id of people.paused)
        assert.equal((await service.ask(subjectPath('queue', id), { key: keys.acme })).status, 404)
    })

    it('proves in the report of a converted batch what each of its requests erased', async () => {
      const { batches, verifierKeys } = store.manifest
      for (const [reference, ids] of [
        [batches.running, people.running],
        [batches.paused, people.paused],
      ] as const) {
        const { body } = await anna.ask(`/request-groups/report?reference=${reference}`)
        const requests = listIn(body, 'requests').filter(isObject)
        const lines = requests.map(({ line }) => Number(line))
        assert.deepEqual(lines.toSorted(), [1, 2, 3, 4].slice(0, ids.length))
        for (const { line, entries, state, dueAt, receivedAt } of requests) {
          const [entry, ...others] = listIn({ entries }, 'entries')
          const proven = { verifierKeys, trackerId: 'queue', subjectId: ids[Number(line) - 1] ?? '' }
          const { record } = await verifyReceipt(textIn(entry, 'receipt'), proven)
          assert.deepEqual([state, record.alreadyErased, others], ['done', false, []])
          assert.equal(String(dueAt), addMonthTo(String(receivedAt)))
        }
      }
      const { entries } = dataOf(await anna.ask('/activity?kind=batch.started'))
      assert.equal(listIn({ entries }, 'entries').length, 2)
    })

    it('erases, continues its ledger and its journal, and passes verification', async () => {
      await assertErases(service, store)
      await assertProofs(service, store)
      await service.stop()
      await assertVerified(store)
    })
  })

  describe(`a backup and a journal of 0.2.0 on ${name}`, { skip }, () => {
    /** What was erased or revoked since the backup stays so, and the ledger continues where it ended. */
    async function assertRestored(t: Lifetime, store: OldStore): Promise<void> {
      const service = await serve(t, store)
      const key = store.manifest.keys.acme
      for (const id of [...people.before, ...people.after]) {
        assert.equal((await service.ask(subjectPath('shop', id), { key })).status, 404, id)
      }
      await assertKeys(service, store)
      await assertProofs(service, store)
      await assertErases(service, store)
      await service.stop()
      await assertVerified(store)
    }

    it('restore the ledger, but neither people erased nor keys revoked since the backup', async (t) => {
      const store = await engine.restoreBackup(t)
      await assertVerified(store)
      await assertRestored(t, store)
    })

    it('recover automatically when a service starts on the backup', async (t) => {
      await assertRestored(t, await engine.setBack(t))
    })
  })
}
