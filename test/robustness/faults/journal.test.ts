import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { dataOf, errorOf } from '../../support/answers.ts'
import { type CommandLine, commandLine, onlyJson } from '../../support/command-line.ts'
import { askRaw } from '../../support/raw-http.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShop, ids } from '../kill/visits.ts'
import { fill, noMounts, smallDisk } from './small-disk.ts'

const people = ids('person', 24)

/** A store with a backup, and a key that may erase. */
async function withBackup(t: TestContext, others: readonly string[] = []) {
  const cli = commandLine(t)
  await buildShop(
    cli.storePath,
    [...people, ...others].flatMap((id) => visit(id, { events: 2 })),
  )
  const key = await createKey(cli)
  onlyJson({ ...(await cli.run(['ledger', 'verify', '--json'])), stderr: '' })
  const backup = join(cli.folder, 'old.backup')
  onlyJson(await cli.run(['backup', backup, '--json']))
  return { cli, key, backup }
}

/** A service in this process, which derives the journal's digest only once. */
function serveHere(t: TestContext, { storePath }: CommandLine, journal: string): Promise<TestService> {
  return startTestService(t, { LETHE_STORE: `sqlite:${storePath}`, LETHE_JOURNAL: journal })
}

const eraseAt = (url: string, key: string) => (id: string) =>
  askRaw(url, subjectPath(id), { key, method: 'DELETE' })

interface Entry {
  index: number
  record: string
}

function entriesIn(journal: string): Entry[] {
  return readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"kind":"erasure"') && line.endsWith('}'))
    .map((line): Entry => JSON.parse(line))
}

/** Restores the backup in place of a lost store, with only the journal. */
async function restoreFrom(cli: CommandLine, backup: string, journal: string) {
  for (const suffix of ['', '-wal', '-shm']) rmSync(cli.storePath + suffix, { force: true })
  const outcome = await cli.run(['restore', backup, '--journal', journal, '--json'])
  return { ...onlyJson(outcome), told: outcome.stderr }
}

describe('a journal that cannot be written', () => {
  it('prevents the service from starting', {
    skip: !existsSync('/proc') && 'there is no /proc',
  }, async (t) => {
    const cli = commandLine(t)
    await buildShop(cli.storePath, [])
    await assert.rejects(serveHere(t, cli, '/proc/lethe.journal'), /lethe\.journal cannot be written/)
  })

  it('is not created before something is written', async (t) => {
    const cli = commandLine(t)
    await buildShop(cli.storePath, [])
    const journal = join(cli.folder, 'journals', 'lethe.journal')
    await (await serveHere(t, cli, journal)).stop()
    assert.deepEqual(readdirSync(join(cli.folder, 'journals')), [])
  })
})

describe('a shared journal', () => {
  it('records the erasures of two services, and replays all of them into a restored backup', async (t) => {
    const { cli, key, backup } = await withBackup(t)
    const journal = join(cli.folder, 'lethe.journal')
    const server = await startRoomyServer(cli, { LETHE_JOURNAL: journal })
    const service = await serveHere(t, cli, journal)
    const [first, second] = [eraseAt(server.url, key), eraseAt(service.url, key)]
    await Promise.all(people.map(async (id, i) => dataOf(await (i % 2 ? first(id) : second(id)))))
    await stopServer(server)
    await service.stop()
    // Both services may write the same entry, so it can be there twice, unchanged.
    const known = new Map(entriesIn(journal).map(({ index, record }) => [index, record]))
    assert.deepEqual(
      [...known.keys()].toSorted((a, b) => a - b),
      [...people.keys()],
    )
    for (const { index, record } of entriesIn(journal)) assert.equal(known.get(index), record)
    // After another start, nothing is missing.
    const again = await serveHere(t, cli, journal)
    await again.stop()
    assert.doesNotMatch(again.logged.join('\n'), /the journal/)
    const { ledgers: before } = onlyJson(await cli.run(['ledger', 'verify', '--json']))
    assert.partialDeepStrictEqual(await restoreFrom(cli, backup, journal), {
      entries: people.length,
      removed: { subjects: people.length },
    })
    assert.deepEqual(onlyJson(await cli.run(['ledger', 'verify', '--json'])).ledgers, before)
  })

  it('that ends in a torn line is continued, and the torn entry is written again', async (t) => {
    const { cli, key, backup } = await withBackup(t)
    const journal = join(cli.folder, 'lethe.journal')
    const service = await serveHere(t, cli, journal)
    for (const id of people.slice(0, 3)) dataOf(await eraseAt(service.url, key)(id))
    await service.stop()
    // A crash cut off the last line, and the file system added zero bytes.
    const whole = readFileSync(journal)
    rmSync(journal)
    appendFileSync(journal, whole.subarray(0, whole.length - 30))
    appendFileSync(journal, Buffer.from('\0\0\0'))
    const next = await serveHere(t, cli, journal)
    await until(() => next.logged.some((line) => line.includes('the journal has torn lines')))
    dataOf(await eraseAt(next.url, key)(people[3] ?? ''))
    await next.stop()
    const entries = entriesIn(journal)
    assert.deepEqual(
      entries.map(({ index }) => index),
      [0, 1, 2, 3],
    )
    const restored = await restoreFrom(cli, backup, journal)
    assert.match(restored.told, /torn/)
    assert.partialDeepStrictEqual(restored, { entries: 4, removed: { subjects: 4 } })
  })

  it('whose disk is full prevents erasures from being answered as done, and is complete once there is room', {
    skip: noMounts,
  }, async (t) => {
    const { cli, key, backup } = await withBackup(t)
    const folder = smallDisk(t, 1)
    const [journal, filler] = [join(folder, 'lethe.journal'), join(folder, 'filler')]
    const service = await serveHere(t, cli, journal)
    const erase = eraseAt(service.url, key)
    dataOf(await erase(people[0] ?? ''))
    fill(filler)
    // The last page of the journal may have room for some of them, but not for this many.
    const answers = await Promise.all(people.slice(1).map(erase))
    const answered = people.slice(1).filter((_, i) => answers[i]?.status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    assert.ok(refused.length > 0)
    for (const answer of refused) errorOf(answer, 'internal_error')
    const onDisk = entriesIn(journal).length
    assert.ok(onDisk >= answered.length + 1, 'whatever was answered as done is in the journal')
    errorOf(await askRaw(service.url, '/readyz'), 'internal_error')
    rmSync(filler)
    assert.equal((await askRaw(service.url, '/readyz')).status, 200)
    const again = await Promise.all(people.map(erase))
    for (const answer of again) assert.equal(dataOf(answer).alreadyErased, true)
    await service.stop()
    const known = new Map(entriesIn(journal).map(({ index, record }) => [index, record]))
    assert.deepEqual(
      [...known.keys()].toSorted((a, b) => a - b),
      [...Array(2 * people.length).keys()],
    )
    const kept = join(cli.folder, 'kept.journal')
    copyFileSync(journal, kept)
    const restored = await restoreFrom(cli, backup, kept)
    assert.partialDeepStrictEqual(restored, {
      entries: 2 * people.length,
      removed: { subjects: people.length },
    })
  })

  it('has the entry of an erasure that was committed but answered 500, before later ones', {
    skip: existsSync('/usr/bin/prlimit') ? false : 'there is no prlimit here',
  }, async (t) => {
    const { cli, key, backup } = await withBackup(t, ids('other', 2_000))
    const journal = join(cli.folder, 'lethe.journal')
    const server = await startRoomyServer(cli, { LETHE_JOURNAL: journal })
    const erase = eraseAt(server.url, key)
    // Limits the size of files: the log has room for the commit, the store none for the log's pages.
    const limit = (size: string) => execFileSync('prlimit', ['--pid', `${server.pid}`, `--fsize=${size}`])
    limit(`${Math.floor(statSync(cli.storePath).size / 2)}:unlimited`)
    const [first = '', second = ''] = people
    errorOf(await erase(first), 'internal_error')
    limit('unlimited:unlimited')
    dataOf(await erase(second))
    await stopServer(server)
    assert.deepEqual(
      entriesIn(journal).map(({ index }) => index),
      [0, 1],
    )
    assert.partialDeepStrictEqual(await restoreFrom(cli, backup, journal), {
      ...{ entries: 2, problems: [], removed: { subjects: 2 } },
    })
  })
})
