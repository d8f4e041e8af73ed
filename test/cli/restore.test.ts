import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { subjectKey } from '../../src/domain/subject.ts'
import { openWriter } from '../../src/storage/sqlite/connection.ts'
import { migrate, migrations } from '../../src/storage/sqlite/migrate.ts'
import { noMounts } from '../robustness/faults/small-disk.ts'
import { dataOf, errorOf } from '../support/answers.ts'
import {
  assertRefused,
  type CommandLine,
  commandLine,
  jsonLines,
  onlyJson,
  textOf,
} from '../support/command-line.ts'
import { openConsole, password, signedIn, visitor } from '../support/console.ts'
import { fillStore } from '../support/filled-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { eventRow } from '../support/rows.ts'
import { type Lifetime, startTestService } from '../support/service.ts'

interface IssuedToken {
  id: string
  token: string
}

interface Fixture {
  cli: CommandLine
  env: { LETHE_JOURNAL: string }
  backup: string
  /** The ID and string of a key before its rotation. */
  rotated: { id: string; key: string }
  revoked: { id: string; key: string }
  /** Variable tokens that are active in the backup and were rotated and revoked afterwards. */
  tokens: { rotated: IssuedToken; revoked: IssuedToken }
  /** A request that is open in the backup and was rejected afterwards. */
  request: string
}

const people = ['marker-anna', 'marker-ben', 'marker-carl']
/** The address of a person whose request is open in the backup and was closed afterwards. */
const address = 'marker-dora@example.com'
const scopes = ['--scope', 'analytics:view', 'analytics:delete-data', 'analytics:manage-requests']

async function createKey(cli: CommandLine, name: string) {
  const created = onlyJson(
    await cli.run(['keys', 'create', '--org', 'acme', '--name', name, '--json', ...scopes]),
  )
  return { id: textOf(created, 'id'), key: textOf(created, 'key') }
}

async function createToken(cli: CommandLine, name: string): Promise<IssuedToken> {
  const args = ['variable-tokens', 'create', '--tracker', 'shop', '--name', name, '--json']
  const created = onlyJson(await cli.run(args))
  return { id: textOf(created, 'id'), token: textOf(created, 'token') }
}

/** A service in this process with an existing store. */
function serving({ storePath }: CommandLine, t: Lifetime, env: Record<string, string> = {}) {
  return startTestService(t, { LETHE_STORE: `sqlite:${storePath}`, ...env })
}

const subjects = '/v1/analytics/trackers/shop/subjects'
const requests = '/v1/analytics/requests'
const original = commandLine({ after })
let prepared: ReturnType<typeof prepare> | null = null

/**
 * A store, its backup, and later erasures, a rotation and a revocation, all in a journal. Created once and
 * copied.
 */
async function afterTheBackup(t: TestContext): Promise<Fixture> {
  prepared ??= prepare(original)
  const changed = await prepared
  const cli = commandLine(t)
  cpSync(original.folder, cli.folder, { recursive: true })
  return { cli, ...filesIn(cli), ...changed }
}

function filesIn({ folder }: CommandLine): Pick<Fixture, 'env' | 'backup'> {
  return { env: { LETHE_JOURNAL: join(folder, 'lethe.journal') }, backup: join(folder, 'old.backup') }
}

async function prepare(
  cli: CommandLine,
): Promise<Pick<Fixture, 'rotated' | 'revoked' | 'tokens' | 'request'>> {
  const { env, backup } = filesIn(cli)
  const events = people.map((subjectId) =>
    eventRow({ subjectId, eventId: `e-${subjectId}`, occurredAt: Date.now() }),
  )
  await fillStore(cli.storePath, events)
  onlyJson(await cli.run(['ledger', 'verify', '--json']))
  const [rotated, revoked] = [await createKey(cli, 'rotated'), await createKey(cli, 'revoked')]
  const tokens = { rotated: await createToken(cli, 'rotated'), revoked: await createToken(cli, 'revoked') }
  const service = await serving(cli, { after() {} }, env)
  const { key } = rotated
  const person = { identifiers: [{ name: 'email', value: address }], subjects: [] }
  const post = (path: string, body: object) =>
    service.ask(path, {
      method: 'POST',
      key,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { requestId } = dataOf(await post(requests, { kind: 'access', person }))
  onlyJson(await cli.run(['backup', backup, '--json']))
  assert.equal((await post(`${requests}/${requestId}/reject`, { reason: 'Not a customer' })).status, 200)
  for (const id of people.slice(0, 2)) {
    const erased = await service.ask(`${subjects}/${id}`, { method: 'DELETE', key: rotated.key })
    assert.equal(erased.status, 200)
  }
  await service.stop()
  for (const [command, changed] of [
    ['keys', { rotated, revoked }],
    ['variable-tokens', tokens],
  ] as const) {
    onlyJson(await cli.run([command, 'rotate', changed.rotated.id, '--yes', '--json'], { env }))
    onlyJson(await cli.run([command, 'revoke', changed.revoked.id, '--name', 'revoked', '--json'], { env }))
  }
  return { rotated, revoked, tokens, request: String(requestId) }
}

const removedTwo = {
  entries: 2,
  tombstones: 2,
  revokedKeys: 1,
  rotatedKeys: 1,
  revokedTokens: 1,
  rotatedTokens: 1,
  closedRequests: 1,
  removed: { subjects: 2, sessions: 2, events: 2 },
  entriesOfOthers: 0,
  movedEntries: 0,
  problems: [],
  stoppedErasures: 0,
  endedSignIns: 0,
  withdrawnLinks: 0,
  removedRecoveryCodes: 0,
}

function secretOf({ folder }: CommandLine): string {
  return join(folder, 'lethe.secret')
}

function removeStore({ storePath }: CommandLine): void {
  for (const suffix of ['', '-wal', '-shm', '-upkeep']) rmSync(storePath + suffix, { force: true })
}

async function assertForgotten(
  t: TestContext,
  { cli, env, rotated, revoked, tokens, request }: Fixture,
): Promise<void> {
  const bytes = readFileSync(cli.storePath)
  assert.deepEqual(
    [...people, address].map((marker) => bytes.includes(marker)),
    [false, false, true, false],
  )
  const listed = await cli.run(['variable-tokens', 'list', '--tracker', 'shop', '--json'])
  assert.deepEqual(
    jsonLines(listed.stdout).map(({ id, state, rotatedAt }) => [id, state, rotatedAt === null]),
    [
      [tokens.rotated.id, 'active', false],
      [tokens.revoked.id, 'revoked', true],
    ],
  )
  const { key } = await createKey(cli, 'current')
  const service = await serving(cli, t, env)
  const closed = dataOf(await service.ask(`${requests}/${request}`, { key }))
  assert.partialDeepStrictEqual(closed, { state: 'rejected', person: null, reason: 'Not a customer' })
  for (const { key } of [rotated, revoked]) assert.equal((await service.ask(subjects, { key })).status, 401)
  for (const { token } of [tokens.rotated, tokens.revoked]) {
    assert.equal((await service.ask(`/v1/variables?token=${token}`)).status, 401)
  }
  await service.stop()
  assert.doesNotMatch(service.logged.join(), /older than the journal/)
}

/** A store as created by the first version, with a session and an event of each subject. */
function writeFirstVersion(path: string, subjectIds: readonly string[]): void {
  const db = openWriter(path)
  migrate(db, path, migrations().slice(0, 1))
  db.exec(`INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1)`)
  db.exec(`INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1)`)
  const at = Date.now() - 3_600_000
  for (const id of subjectIds) {
    const key = subjectKey('shop', id)
    db.prepare(`INSERT INTO sessions VALUES (?, 's', ?, ?, 1, '{}', ?)`).run(key, at, at, at)
    db.prepare(`INSERT INTO events VALUES (?, ?, 'e', 's', 'pageview', '{}')`).run(key, at)
    db.prepare(`INSERT INTO subjects VALUES ('shop', ?, ?, ?, ?, 1, 1)`).run(id, key, at, at)
  }
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
}

describe('lethe restore', { concurrency: 4 }, () => {
  it('applies the erasures and key changes since the backup from the existing store', async (t) => {
    const fixture = await afterTheBackup(t)
    const { cli, backup } = fixture
    const restored = onlyJson(await cli.run(['restore', backup, '--yes', '--json']))
    assert.partialDeepStrictEqual(restored, { replaced: 'store', ...removedTwo })
    await assertForgotten(t, fixture)
    assert.deepEqual(
      readdirSync(cli.folder).filter((file) => /restoring|replaced/.test(file)),
      [],
    )
  })

  it('applies the same changes from a journal if the store is lost', async (t) => {
    const fixture = await afterTheBackup(t)
    const { cli, backup, env } = fixture
    removeStore(cli)
    const journal = ['--journal', env.LETHE_JOURNAL]
    const restored = onlyJson(await cli.run(['restore', backup, ...journal, '--json']))
    assert.partialDeepStrictEqual(restored, { replaced: 'none', ...removedTwo })
    await assertForgotten(t, fixture)
  })

  it('through a symbolic link replaces its target, and leaves no data of the old store', async (t) => {
    const fixture = await afterTheBackup(t)
    const { cli, backup } = fixture
    const [linked, elsewhere] = [join(cli.folder, 'linked'), join(cli.folder, 'elsewhere')]
    for (const folder of [linked, elsewhere]) mkdirSync(folder)
    const [link, file] = [join(linked, 'lethe.db'), join(elsewhere, 'store.db')]
    // Through a second link, which is relative.
    symlinkSync(join('..', 'elsewhere', 'second.db'), link)
    symlinkSync('store.db', join(elsewhere, 'second.db'))
    copyFileSync(secretOf(cli), join(linked, 'lethe.secret'))
    copyFileSync(cli.storePath, file)
    const env = { LETHE_STORE: `sqlite:${link}` }
    const run = async (args: string[]) => onlyJson(await cli.run([...args, '--json'], { env }))
    assert.partialDeepStrictEqual(await run(['restore', backup, '--yes']), {
      replaced: 'store',
      ...removedTwo,
    })
    await run(['scrub'])
    assert.ok(lstatSync(link).isSymbolicLink())
    const files = readdirSync(elsewhere)
    assert.deepEqual(
      files.filter((name) => !/^(store\.db(-upkeep|-wal|-shm)?|second\.db)$/.test(name)),
      [],
    )
    assert.deepEqual(
      readdirSync(linked).filter((name) => !/^lethe\.(db|secret)$/.test(name)),
      [],
    )
    for (const name of files) {
      const bytes = readFileSync(join(elsewhere, name))
      for (const erased of people.slice(0, 2)) assert.ok(!bytes.includes(erased), `${erased} in ${name}`)
    }
    // The same without an existing store.
    for (const name of readdirSync(elsewhere).filter((name) => name.startsWith('store'))) {
      rmSync(join(elsewhere, name))
    }
    assert.partialDeepStrictEqual(await run(['restore', backup]), { replaced: 'none' })
    assert.ok(lstatSync(link).isSymbolicLink() && statSync(file).size > 0)
  })

  it('through a symbolic link refuses while a process uses the store by its own name', async (t) => {
    const { cli, backup } = await afterTheBackup(t)
    const link = join(cli.folder, 'link.db')
    symlinkSync('lethe.db', link)
    const service = await serving(cli, t)
    const env = { LETHE_STORE: `sqlite:${link}`, LETHE_SECRET_FILE: secretOf(cli) }
    assertRefused(await cli.run(['restore', backup, '--yes'], { env }), 1, /Another process uses the store/)
    await service.stop()
  })

  it('uses the existing store if the journal of LETHE_JOURNAL does not exist yet, and says so', async (t) => {
    const { cli, backup } = await afterTheBackup(t)
    const journal = join(cli.folder, 'not', 'yet.journal')
    const env = { LETHE_JOURNAL: journal }
    const restored = await cli.run(['restore', backup, '--yes', '--json'], { env })
    assert.partialDeepStrictEqual(onlyJson(restored), { replaced: 'store', ...removedTwo })
    assert.match(restored.stderr, /There is no journal at .*yet\.journal yet/)
    const to = `sqlite:${join(cli.folder, 'copy.db')}`
    const copied = await cli.run(['copy', '--from', `sqlite:${cli.storePath}`, '--to', to], { env })
    assert.equal(copied.code, 0, copied.stderr)
    removeStore(cli)
    const unasked = await cli.run(['restore', backup], { env })
    assert.equal(unasked.code, 2)
    assert.match(unasked.stderr, /--yes is missing/)
    const asked = await cli.run(['restore', backup], { env, answers: ['no'] })
    assert.equal(asked.code, 1)
    assert.match(asked.stderr, /Nothing was changed/)
    assert.equal(existsSync(cli.storePath), false)
    assert.match(asked.asked.join(), /neither a store at .* nor a journal at .*people erased since/)
    assert.partialDeepStrictEqual(onlyJson(await cli.run(['restore', backup, '--yes', '--json'], { env })), {
      ...{ replaced: 'none', entries: 0 },
    })
    assert.equal(existsSync(journal), false)
  })

  it('rejects a missing --journal, and leaves the store unchanged', async (t) => {
    const { cli, backup } = await afterTheBackup(t)
    const before = readFileSync(cli.storePath)
    const nowhere = join(cli.folder, 'nowhere.journal')
    const refusal = /^error: There is no journal at .*nowhere\.journal\.$/m
    assertRefused(await cli.run(['restore', backup, '--yes', '--journal', nowhere]), 1, refusal)
    assert.deepEqual(readFileSync(cli.storePath), before)
    assertRefused(await cli.run(['journal', 'replay', nowhere]), 1, refusal)
    assertRefused(
      await cli.run(['journal', 'replay', cli.folder]),
      1,
      /The journal .* cannot be read: EISDIR/,
    )
  })

  it('rejects a file that is not a journal, or is empty, and does not replace the store', async (t) => {
    const { cli, backup, env } = await afterTheBackup(t)
    const before = statSync(cli.storePath).ino
    const empty = join(cli.folder, 'empty.journal')
    writeFileSync(empty, '')
    for (const [file, refusal] of [
      [`${backup}.json`, /old\.backup\.json is not a journal/],
      [backup, /old\.backup is not a journal/],
      [empty, /The journal .*empty\.journal is empty/],
    ] as const) {
      for (const command of [
        ['restore', backup, '--yes', '--journal', env.LETHE_JOURNAL, file],
        ['journal', 'replay', file],
        ['ledger', 'verify', '--journal', file],
      ])
        assertRefused(await cli.run(command), 1, refusal)
      assert.equal(statSync(cli.storePath).ino, before)
    }
    removeStore(cli)
    const unasked = await cli.run(['restore', backup], { env: { LETHE_JOURNAL: empty } })
    assert.equal(unasked.code, 2)
    assert.match(unasked.stderr, /empty\.journal is empty[\s\S]*--yes is missing/)
  })

  it('ends all sessions and withdraws open links of the backup, and says so', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [])
    const before = await serving(cli, t)
    const browser = await openConsole(before, 'acme')
    dataOf(await browser.ask('/session'))
    await before.stop()
    const invited = onlyJson(
      await cli.run(['members', 'create', '--org', 'acme', '--email', 'ben@acme.example', '--json']),
    )
    const backup = join(cli.folder, 'b')
    onlyJson(await cli.run(['backup', backup, '--json']))
    const { code, stdout } = await cli.run(['restore', backup, '--yes'])
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^Ended 1 sign-in and withdrew 1 link to set a password that the restored data contained\.$/m,
    )
    const after = await serving(cli, t)
    const cookie = { cookie: browser.cookie ?? '' }
    errorOf(await visitor(after).ask('/session', { headers: cookie }), 'unauthorized')
    const [, token = ''] = textOf(invited, 'link').split('#')
    const accepted = await visitor(after).ask('/invitation/accept', {
      method: 'POST',
      body: { token, password },
    })
    errorOf(accepted, 'not_found')
    dataOf(await (await signedIn(after, browser.member)).ask('/session'))
    await after.stop()
  })

  it('refuses while a service is running, and asks before it replaces a store', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [])
    const backup = join(cli.folder, 'b')
    onlyJson(await cli.run(['backup', backup, '--json']))
    const service = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}` })
    assertRefused(await cli.run(['restore', backup, '--yes']), 1, /Another process uses the store/)
    await service.stop()
    const before = readFileSync(cli.storePath)
    assertRefused(await cli.run(['restore', backup]), 2, /--yes is missing/)
    assertRefused(await cli.run(['restore', backup], { answers: ['no'] }), 1, /Nothing was changed/)
    assert.deepEqual(readFileSync(cli.storePath), before)
  })

  it('rejects a damaged backup and another secret, and leaves the store unchanged', async (t) => {
    const { cli, backup } = await afterTheBackup(t)
    const secret = join(cli.folder, 'other.secret')
    writeFileSync(secret, `${Buffer.alloc(32, 7).toString('base64')}\n`)
    const before = readFileSync(cli.storePath)
    const other = { LETHE_SECRET_FILE: secret }
    assertRefused(await cli.run(['restore', backup, '--yes'], { env: other }), 1, /belongs to the secret/)
    const damaged = join(cli.folder, 'damaged')
    copyFileSync(backup, damaged)
    writeFileSync(damaged, Buffer.alloc(4096, 1), { flag: 'r+' })
    assertRefused(await cli.run(['restore', damaged, '--yes']), 1, /damaged/)
    assert.deepEqual(readFileSync(cli.storePath), before)
  })

  it('restores everything in a journal with a gap, and reports what is missing', async (t) => {
    const fixture = await afterTheBackup(t)
    const { cli, backup, env, rotated, revoked } = fixture
    const gap = join(cli.folder, 'gap.journal')
    const lines = readFileSync(env.LETHE_JOURNAL, 'utf8').split('\n')
    writeFileSync(gap, lines.filter((line) => !line.includes('"index":0')).join('\n'))
    removeStore(cli)
    const { code, stdout, stderr } = await cli.run(['restore', backup, '--journal', gap, '--json'])
    assert.equal(code, 1)
    assert.match(stderr, /No journal holds entry 0 of the ledger of the organisation "acme"/)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { tombstones: 1, removed: { subjects: 1 } })
    const service = await serving(cli, t)
    for (const { key } of [rotated, revoked]) errorOf(await service.ask(subjects, { key }), 'unauthorized')
    const { key } = await createKey(cli, 'k')
    const statuses = await Promise.all(
      people.map(async (id) => (await service.ask(`${subjects}/${id}`, { key })).status),
    )
    assert.deepEqual(statuses, [200, 404, 200])
    await service.stop()
    // Appending to this journal would continue after the gap.
    await assert.rejects(serving(cli, t, { LETHE_JOURNAL: gap }), /No journal holds entry 0/)
    const mended = await cli.run(['journal', 'replay', gap, '--mend'])
    assert.equal(mended.code, 1)
    assert.match(mended.stdout, /^Appended 1 ledger entry/)
  })

  it('upgrades a backup of the first version, and restores nobody who was erased', async (t) => {
    const cli = commandLine(t)
    const env = { LETHE_JOURNAL: join(cli.folder, 'lethe.journal') }
    const backup = join(cli.folder, 'ancient.backup')
    writeFirstVersion(backup, people)
    assert.partialDeepStrictEqual(onlyJson(await cli.run(['backup', 'verify', backup, '--json'])), {
      ...{ storeVersion: 1, ledgers: [], secrets: [] },
      rows: { subjects: 3, sessions: 3, events: 3 },
    })
    const asFirst = await cli.run(['restore', backup, '--json'])
    assert.match(asFirst.stderr, /^Created a secret at /)
    assert.partialDeepStrictEqual(onlyJson(asFirst), { replaced: 'none', entries: 0 })
    const { key } = await createKey(cli, 'k')
    const service = await serving(cli, t, env)
    for (const id of people.slice(0, 2)) {
      const erased = await service.ask(`${subjects}/${id}`, { method: 'DELETE', key })
      assert.equal(dataOf(erased).alreadyErased, false)
    }
    await service.stop()
    const { revokedKeys, rotatedKeys, revokedTokens, rotatedTokens, closedRequests, ...removed } = removedTwo
    const inPlace = onlyJson(await cli.run(['restore', backup, '--yes', '--json']))
    assert.partialDeepStrictEqual(inPlace, { replaced: 'store', ...removed })
    removeStore(cli)
    const journal = ['--journal', env.LETHE_JOURNAL]
    assert.partialDeepStrictEqual(onlyJson(await cli.run(['restore', backup, ...journal, '--json'])), {
      replaced: 'none',
      ...removed,
    })
    const bytes = readFileSync(cli.storePath)
    assert.deepEqual(
      people.map((id) => bytes.includes(id)),
      [false, false, true],
    )
    assert.equal((await cli.run(['ledger', 'verify'])).code, 0)
  })

  it('refuses to replace a store that it cannot write, which has the erasures since the backup', {
    skip: noMounts,
  }, async (t) => {
    const { cli, backup } = await afterTheBackup(t)
    // With a write-ahead log, the store could still be read.
    const db = new DatabaseSync(cli.storePath)
    db.exec('PRAGMA journal_mode = DELETE')
    db.close()
    const before = readFileSync(cli.storePath)
    execFileSync('mount', ['--bind', cli.storePath, cli.storePath])
    try {
      execFileSync('mount', ['-o', 'remount,bind,ro', cli.storePath])
      assertRefused(
        await cli.run(['restore', backup, '--yes']),
        1,
        /Cannot open the store.*move the store away/,
      )
    } finally {
      execFileSync('umount', ['--lazy', cli.storePath])
    }
    assert.deepEqual(readFileSync(cli.storePath), before)
  })

  it('rejects a backup of a newer version, and leaves the store unchanged', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [])
    const before = readFileSync(cli.storePath)
    const backup = join(cli.folder, 'future.backup')
    writeFirstVersion(backup, [])
    const db = openWriter(backup)
    db.exec('PRAGMA user_version = 999')
    db.close()
    assertRefused(await cli.run(['restore', backup, '--yes']), 1, /newer Lethe/)
    assert.deepEqual(readFileSync(cli.storePath), before)
  })

  it('leaves either the old or the new store if it is killed', async (t) => {
    const fixture = await afterTheBackup(t)
    const { cli, backup } = fixture
    const program = cli.startProgram(['restore', backup, '--yes', '--json'])
    let isOver = false
    const ended = program.ended.then(() => {
      isOver = true
    })
    while (!isOver && !readdirSync(cli.folder).includes('lethe.db.restoring-wal')) await pause(1)
    program.kill('SIGKILL')
    await ended
    const check = await cli.run(['trackers', 'list', '--org', 'acme', '--json'])
    assert.equal(check.code, 0, check.stderr)
    onlyJson(await cli.run(['restore', backup, '--yes', '--json']))
    await assertForgotten(t, fixture)
  })
})

describe('lethe journal', { concurrency: 4 }, () => {
  it('contains neither subject IDs nor key strings, and is readable by its owner only', async (t) => {
    const { cli, env, rotated } = await afterTheBackup(t)
    const text = readFileSync(env.LETHE_JOURNAL, 'utf8')
    assert.equal(text.split('\n').filter((line) => line !== '').length, 7)
    for (const marker of [...people, address, rotated.key]) assert.ok(!text.includes(marker))
    assert.equal(statSync(env.LETHE_JOURNAL).mode & 0o777, 0o600)
    assert.ok(!readFileSync(cli.storePath).includes('marker-anna'))
  })

  it('is replayed once in a store that was set back, on both engines', async (t) => {
    const { cli, env, backup } = await afterTheBackup(t)
    removeStore(cli)
    copyFileSync(backup, cli.storePath)
    const postgres = await freshStore(t)
    const copied = await cli.run(['copy', '--from', `sqlite:${cli.storePath}`, '--to', postgres, '--json'])
    assert.equal(copied.code, 0, copied.stderr)
    // The last line was truncated by a crash.
    writeFileSync(env.LETHE_JOURNAL, '{"kind":"erasure","organ', { flag: 'a' })
    for (const store of [`sqlite:${cli.storePath}`, postgres]) {
      const replay = () =>
        cli.run(['journal', 'replay', env.LETHE_JOURNAL, '--json'], {
          env: { LETHE_STORE: store, LETHE_SECRET_FILE: secretOf(cli) },
        })
      const first = await replay()
      assert.match(first.stderr, /torn/)
      assert.deepEqual(onlyJson(first), removedTwo, store)
      const counts = {
        ...{ entries: 0, tombstones: 0 },
        ...{ revokedKeys: 0, rotatedKeys: 0, revokedTokens: 0, rotatedTokens: 0, closedRequests: 0 },
      }
      const ended = { stoppedErasures: 0, endedSignIns: 0, withdrawnLinks: 0, removedRecoveryCodes: 0 }
      const nothing = { ...counts, entriesOfOthers: 0, movedEntries: 0, problems: [], ...ended }
      assert.deepEqual(onlyJson(await replay()), {
        ...nothing,
        removed: { subjects: 0, sessions: 0, events: 0 },
      })
    }
  })

  it('is replayed by lethe copy, so that an old store restores nobody', async (t) => {
    const { cli, env, backup } = await afterTheBackup(t)
    const [old, to] = [join(cli.folder, 'old.db'), join(cli.folder, 'new.db')]
    copyFileSync(backup, old)
    const asOld = { env: { LETHE_STORE: `sqlite:${old}` } }
    const invited = ['members', 'create', '--org', 'acme', '--email', 'ben@acme.example', '--json']
    onlyJson(await cli.run(invited, asOld))
    const args = ['copy', '--from', `sqlite:${old}`, '--to', `sqlite:${to}`, '--json']
    const { stdout } = await cli.run(args, { env: { ...env, LETHE_SECRET_FILE: secretOf(cli) } })
    assert.deepEqual(JSON.parse(stdout).replayed, { ...removedTwo, withdrawnLinks: 1 })
  })

  it('fails erasures while it cannot be written, is reported in readiness and metrics, and catches up', async (t) => {
    const cli = commandLine(t)
    const journal = join(cli.folder, 'folder', 'lethe.journal')
    await fillStore(cli.storePath, [eventRow({ subjectId: 'anna', eventId: 'e', occurredAt: Date.now() })])
    const { key } = await createKey(cli, 'k')
    const service = await serving(cli, t, { LETHE_JOURNAL: journal })
    // A folder in place of the file cannot be appended to, even by root.
    mkdirSync(journal, { recursive: true })
    const anna = `${subjects}/anna`
    assert.equal((await service.ask(anna, { method: 'DELETE', key })).status, 500)
    assert.equal((await service.ask(anna, { key })).status, 404)
    assert.equal((await service.ask('/readyz')).status, 500)
    rmdirSync(journal)
    assert.equal((await service.ask('/readyz')).status, 200)
    assert.match(readFileSync(journal, 'utf8'), /^\n\{"kind":"erasure","organisationId":"acme","index":0,/)
    await service.stop()
    assert.match(service.logged.join(), /the journal cannot be written.*the journal is complete again/)
  })
})

describe('lethe backup verify', () => {
  it('accepts an intact backup, and rejects one that does not match the file beside it', async (t) => {
    const { cli, backup } = await afterTheBackup(t)
    const contents = onlyJson(await cli.run(['backup', 'verify', backup, '--json']))
    assert.partialDeepStrictEqual(contents, { isWhole: true, rows: { subjects: 3, events: 3 }, ledgers: [] })
    const later = join(cli.folder, 'later')
    onlyJson(await cli.run(['backup', later, '--json']))
    assert.partialDeepStrictEqual(onlyJson(await cli.run(['backup', 'verify', later, '--json'])), {
      ledgers: [{ organisationId: 'acme', size: 2 }],
    })
    copyFileSync(later, backup)
    assertRefused(await cli.run(['backup', 'verify', backup]), 1, /is not the backup/)
  })
})
