import assert from 'node:assert/strict'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { verifyCheckpoint, verifyReceipt } from '@lethe/client'
import { readConfig } from '../../src/config.ts'
import { earliestInstant } from '../../src/domain/instant.ts'
import type { Services } from '../../src/domain/services.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { readLedger } from '../../src/operations/ledger.ts'
import { listReceipts } from '../../src/operations/receipt.ts'
import { openKeyring } from '../../src/runtime/secret-file.ts'
import { openServices } from '../../src/start.ts'
import { assertRefused, commandLine, onlyJson } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { anHourAgo, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const engines: Record<string, (t: TestContext) => Promise<string>> = {
  SQLite: async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`,
  PostgreSQL: freshStore,
}

async function withSecret(t: TestContext) {
  const cli = commandLine(t)
  const file = join(cli.folder, 'own.secret')
  writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  const env = { LETHE_SECRET_FILE: file }
  const run = (args: readonly string[]) => cli.run(args, { env })
  await run(['orgs', 'create', '--name', 'Acme', '--id', 'acme'])
  await run(['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'shop'])
  const config = readConfig({ LETHE_STORE: `sqlite:${cli.storePath}`, ...env })
  async function inStore<Result>(work: (services: Services) => Promise<Result>): Promise<Result> {
    const services = await openServices(config, { writesHere: true })
    try {
      return await work(services)
    } finally {
      await services.close()
    }
  }
  return { cli, file, run, inStore }
}

const jsonEvent = {
  type: 'event',
  ...{ trackerId: 'shop', sessionId: 's', name: 'pageview', occurredAt: new Date(anHourAgo).toISOString() },
  properties: {},
}
const view = { organisationId: 'acme', trackerId: 'shop', since: earliestInstant }

describe('lethe secret rotate', { concurrency: true }, () => {
  it('adds a private secret before the others, and says what to do next', async (t) => {
    const { file, run, cli } = await withSecret(t)
    const [old = ''] = readFileSync(file, 'utf8').split('\n')
    const { code, stdout, stderr } = await run(['secret', 'rotate'])
    assert.match(
      stdout,
      /^Added a secret with the fingerprint [0-9a-f]{16} to .*; 1 older one stays valid\.\n$/,
    )
    assert.match(stderr, /Copy the file to every other process that uses this store, and restart the process/)
    assert.equal(code, 0)
    const [first = '', second, ...rest] = readFileSync(file, 'utf8').split('\n')
    assert.deepEqual([second, rest], [old, ['']])
    assert.equal(Buffer.from(first, 'base64').length, 32)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.ok(!readdirSync(cli.folder).some((name) => name.endsWith('.new')))
    assert.ok(!stdout.includes(first) && !stderr.includes(first), 'the secret itself is told nobody')
  })

  it('keeps tombstones and receipts valid, and old keys verify new receipts', async (t) => {
    const { run, inStore } = await withSecret(t)
    const rows = visit('anna')
    const before = await inStore(async (services) => {
      await services.ingest.ingest(rows, services.keyring.tombstoneKeys)
      const { receipt } = await eraseSubject(services, view, 'anna')
      return { receipt, ...(await readLedger(services, 'acme')) }
    })
    await run(['secret', 'rotate'])
    await inStore(async (services) => {
      const { events, ofErased } = await services.ingest.ingest(rows, services.keyring.tombstoneKeys)
      assert.deepEqual([events, ofErased !== undefined && ofErased > 0], [0, true])
      await eraseSubject(services, view, 'anna')
      const after = await readLedger(services, 'acme')
      assert.deepEqual(after.verifierKeys.slice(1), before.verifierKeys)
      const query = { limit: 10, before: null }
      const { receipts } = await listReceipts(services, view, 'anna', query)
      assert.equal(receipts.length, 2)
      for (const { receipt } of [...receipts, before]) {
        for (const verifierKeys of [before.verifierKeys, after.verifierKeys]) {
          await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: 'anna' })
        }
      }
      for (const key of after.verifierKeys) await verifyCheckpoint(after.checkpoint, { verifierKeys: [key] })
    })
    assert.equal((await run(['ledger', 'verify'])).code, 0)
  })

  it('stops an import that started earlier, so that it restores nobody erased since', async (t) => {
    const { cli, file, run, inStore } = await withSecret(t)
    const line = (subjectId: string) =>
      `${JSON.stringify({ ...jsonEvent, subjectId, eventId: `of-${subjectId}` })}\n`
    const input = join(cli.folder, 'input.ndjson')
    writeFileSync(input, line('anna') + line('ben'))
    assert.equal((await run(['import', input])).code, 0)
    const importing = cli.startProgram(['import', '-', '--json'], { LETHE_SECRET_FILE: file })
    importing.type(line('carl'))
    await inStore((services) => until(async () => (await services.subjects.read(view, 'carl')) !== null))
    await run(['secret', 'rotate'])
    await inStore((services) => eraseSubject(services, view, 'anna'))
    importing.type(line('anna') + line('dora'))
    const { code, stdout, stderr } = await importing.ended
    assert.equal(code, 1)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { subjects: 1, events: 1 })
    assert.match(
      stderr,
      /The secret was rotated after this process started.*Start again with the current secret file/,
    )
    await inStore(async ({ subjects }) => {
      for (const subject of ['anna', 'dora']) assert.equal(await subjects.read(view, subject), null, subject)
      for (const subject of ['ben', 'carl']) assert.ok(await subjects.read(view, subject), subject)
    })
    const again = await run(['import', input, '--json'])
    assert.partialDeepStrictEqual(JSON.parse(again.stdout), { ofErased: 1, events: 0 })
  })

  it('leaves a store that opens only with the new file', async (t) => {
    const { file, run } = await withSecret(t)
    copyFileSync(file, `${file}.old`)
    const { fingerprint } = onlyJsonOf(await run(['secret', 'rotate', '--json']))
    assert.equal((await run(['ledger', 'verify'])).code, 0)
    copyFileSync(`${file}.old`, file)
    assertRefused(await run(['ledger', 'verify']), 1, new RegExp(String(fingerprint)))
  })

  it('follows a symbolic link to the file, and keeps the link', async (t) => {
    const { cli, file } = await withSecret(t)
    const link = join(cli.folder, 'linked.secret')
    symlinkSync(file, link)
    const { code } = await cli.run(['secret', 'rotate'], { env: { LETHE_SECRET_FILE: link } })
    assert.equal(code, 0)
    assert.equal(readFileSync(file, 'utf8').split('\n').length, 3)
    assert.equal(readFileSync(link, 'utf8'), readFileSync(file, 'utf8'))
  })

  it('fails without changes during another rotation, and if it cannot write', async (t) => {
    const { cli, file, run } = await withSecret(t)
    const text = readFileSync(file, 'utf8')
    writeFileSync(`${file}.new`, '')
    assertRefused(await run(['secret', 'rotate']), 1, /another rotation is in progress.*remove the file/)
    assert.equal(readFileSync(`${file}.new`, 'utf8'), '')
    assert.equal(readFileSync(file, 'utf8'), text)
    if (process.getuid?.() === 0) return t.diagnostic('root may write everywhere')
    chmodSync(file, 0o400)
    chmodSync(cli.folder, 0o500)
    t.after(() => chmodSync(cli.folder, 0o700))
    assertRefused(await run(['secret', 'rotate']), 1, /cannot be replaced, and nothing was changed/)
  })
})

describe('a secret created by a command', () => {
  it('is reported once, with its path and the advice to keep it out of backups', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const file = join(cli.folder, 'empty.ndjson')
    writeFileSync(file, '')
    const { stderr } = await cli.run(['import', file])
    const secret = join(cli.folder, 'lethe.secret')
    assert.equal(
      stderr,
      `Created a secret at ${secret}. Keep a copy of it, separate from backups of the store.\n`,
    )
    assert.ok(!stderr.includes(readFileSync(secret, 'utf8').trim()))
    assert.equal((await cli.run(['import', file])).stderr, '')
  })
})

describe('a secret file', { concurrency: true }, () => {
  it('may have blank lines, CRLF line endings and a repeated secret, which counts once', async (t) => {
    const { file, run, inStore } = await withSecret(t)
    await inStore(async (services) => {
      await services.ingest.ingest(visit('anna'), services.keyring.tombstoneKeys)
      await eraseSubject(services, view, 'anna')
    })
    const [secret = ''] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, `\ufeff\r\n${secret}  \r\n\r\n\t${secret}\r\n${secret}`)
    await inStore(async (services) => {
      assert.equal(services.keyring.fingerprints.length, 1)
      const { receipts } = await listReceipts(services, view, 'anna', { limit: 10, before: null })
      assert.equal(receipts.length, 1)
      const { verifierKeys, checkpoint } = await readLedger(services, 'acme')
      assert.equal(verifierKeys.length, 1)
      assert.equal(checkpoint.split('\n').filter((line) => line.startsWith('— ')).length, 1)
    })
    assert.match((await run(['secret', 'rotate'])).stdout, /; 1 older one stays valid\.$/m)
    assert.equal(readFileSync(file, 'utf8').split('\n').length, 3)
  })

  it('with a comment is rejected with the line number, without its content', async (t) => {
    const { file, run } = await withSecret(t)
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n# hush\n`)
    const refused = await run(['ledger', 'verify'])
    assertRefused(refused, 1, /Line 3 of .*own\.secret is not a secret/)
    assert.doesNotMatch(refused.stderr, /hush/)
  })
})

for (const [engine, address] of Object.entries(engines)) {
  describe(`two first starts with different folders on one ${engine} store`, () => {
    it('agree on one secret: the second one is refused now and later, with instructions', async (t) => {
      const store = await openStoreAt(await address(t))
      t.after(() => store.close())
      const folders = [temporaryFolder(t), temporaryFolder(t)]
      const made: string[] = []
      const start = (folder: string) =>
        openKeyring(
          {
            store: { engine: 'sqlite', path: join(folder, 'lethe.db') },
            ...{ secretFile: null, ledgerOrigin: 'lethe.local' },
          },
          store.secrets,
          Date.now(),
          { onSecretMade: (path) => made.push(path) },
        )
      const starts = await Promise.allSettled(folders.map(start))
      const errors = starts.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []))
      assert.equal(errors.length, 1)
      assert.match(
        errors[0],
        /^This store belongs to the secret with the fingerprint [0-9a-f]{16}, but.*Use the right file/,
      )
      assert.equal(made.length, 1, 'nobody is told to keep a secret that nothing belongs to')
      assert.equal((await store.secrets.list()).length, 1)
      const again = await Promise.allSettled(folders.map(start))
      assert.deepEqual(
        again.map(({ status }) => status),
        starts.map(({ status }) => status),
      )
    })
  })
}

describe('a store with a lost secret', () => {
  it('allows only commands that need no secret, above all revoking a key', async (t) => {
    const { cli, file, run, inStore } = await withSecret(t)
    await inStore(async (services) => {
      await services.ingest.ingest(visit('anna'), services.keyring.tombstoneKeys)
      await eraseSubject(services, view, 'anna')
    })
    const created = await run(['keys', 'create', '--org', 'acme', '--name', 'k', ...scope, '--json'])
    const id = String(onlyJsonOf(created).id)
    rmSync(file)
    for (const args of [
      ...[
        ['serve'],
        ['ledger', 'verify'],
        ['import', file],
        ['journal', 'replay', file],
        ['secret', 'rotate'],
      ],
    ]) {
      assertRefused(await run(args), 1, /belongs to the secret with the fingerprint.*there is no file/)
    }
    for (const args of [
      ['keys', 'list', '--org', 'acme'],
      ['keys', 'rename', id, '--name', 'other'],
      ['keys', 'rotate', id, '--yes'],
      ['keys', 'revoke', id, '--name', 'other'],
      ['keys', 'create', '--org', 'acme', '--name', 'new', ...scope],
      ['orgs', 'list'],
      ['orgs', 'create', '--name', 'Second'],
      ['orgs', 'set-plan', 'acme', 'pro'],
      ['trackers', 'list', '--org', 'acme'],
      ['trackers', 'totals', 'shop'],
      ['members', 'create', '--org', 'acme', '--email', 'ada@example.com'],
      ['activity', '--org', 'acme'],
      ['status'],
      ['identifiers', 'derive', '--tracker', 'shop', '--attribute', 'email'],
      ['sweep'],
      ['scrub'],
      ['migrate'],
      ['backup', join(cli.folder, 'backup.db')],
      ['trackers', 'delete', 'shop', '--name', 'Shop'],
    ]) {
      const { code, stderr } = await run(args)
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    }
    assert.ok(!existsSync(file), 'none was made in its place')
  })
})

const scope = ['--scope', 'analytics:view']

/** The JSON object of a command that may also have printed messages. */
function onlyJsonOf({ code, stdout }: { code: number | null; stdout: string }): Record<string, unknown> {
  return onlyJson({ code, stdout, stderr: '', signal: null })
}
