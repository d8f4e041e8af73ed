import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { Client, escapeIdentifier } from 'pg'
import { allScopes } from '../../../src/domain/api-key.ts'
import { earliestInstant } from '../../../src/domain/instant.ts'
import { appendLeaf, type Frontier, formatFrontier, hashLeaf } from '../../../src/domain/merkle-tree.ts'
import { createKey, revokeKey, rotateKey } from '../../../src/operations/api-key.ts'
import { eraseSubject } from '../../../src/operations/erase-subject.ts'
import {
  createVariableToken,
  revokeVariableToken,
  rotateVariableToken,
} from '../../../src/operations/variable-token.ts'
import { dataOf, errorOf } from '../../support/answers.ts'
import { commandLine, jsonLines } from '../../support/command-line.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { askRaw } from '../../support/raw-http.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { subjectPath, visit } from '../../support/shop.ts'
import { testMark, testSecretFile } from '../../support/test-keyring.ts'

interface Place {
  store: string
  /** Changes the store without the service. */
  tamper(sql: string): Promise<Record<string, unknown>[]>
  /** Copies a store that is not open. The returned function restores the copy. */
  copy(): Promise<() => Promise<void>>
}

function onSqlite(folder: string): Place {
  const path = join(folder, 'lethe.db')
  const copyTo = (from: string, to: string) => {
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(to + suffix, { force: true })
      if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
    }
  }
  return {
    store: `sqlite:${path}`,
    async tamper(sql) {
      const db = new DatabaseSync(path, { timeout: 10_000 })
      try {
        return db.prepare(sql).all()
      } finally {
        db.close()
      }
    },
    async copy() {
      copyTo(path, `${path}.old`)
      return async () => copyTo(`${path}.old`, path)
    },
  }
}

async function onPostgres(t: TestContext): Promise<Place> {
  const store = await freshStore(t)
  async function ask(url: string, ...statements: string[]) {
    const client = new Client(url)
    await client.connect()
    try {
      let rows: Record<string, unknown>[] = []
      for (const sql of statements) rows = (await client.query(sql)).rows
      return rows
    } finally {
      await client.end()
    }
  }
  const server = new URL(store)
  const name = server.pathname.slice(1)
  server.pathname = 'postgres'
  const [own, old] = [escapeIdentifier(name), escapeIdentifier(`${name}_old`)]
  return {
    store,
    tamper: (sql) => ask(store, sql),
    async copy() {
      await ask(server.href, `CREATE DATABASE ${old} TEMPLATE ${own}`)
      t.after(() => ask(server.href, `DROP DATABASE ${old} WITH (FORCE)`))
      return async () => {
        await ask(server.href, `DROP DATABASE ${own} WITH (FORCE)`, `CREATE DATABASE ${own} TEMPLATE ${old}`)
      }
    },
  }
}

const people = ['anna', 'ben', 'cleo', 'dora', 'emil', 'fay']

for (const engine of ['SQLite', 'PostgreSQL'] as const) {
  describe(`a store on ${engine}`, () => {
    /** A store with six people, and a key that may erase them. */
    async function prepare(t: TestContext) {
      const cli = commandLine(t)
      const place = engine === 'SQLite' ? onSqlite(cli.folder) : await onPostgres(t)
      const journal = join(cli.folder, 'lethe.journal')
      const settings = { LETHE_STORE: place.store, LETHE_SECRET_FILE: testSecretFile() }
      const serve = (env: Record<string, string> = { LETHE_JOURNAL: journal }) =>
        startTestService(t, { ...settings, ...env })
      const first = await serve()
      await first.createOrganisation('acme')
      await first.createTracker('acme', 'shop')
      const { keyString: key } = await first.createKey('acme')
      await first.ingest(people.flatMap((id) => visit(id)))
      await first.stop()
      const run = (...args: string[]) => cli.run(args, { env: settings })
      const erase = ({ url }: TestService, id: string) =>
        askRaw(url, subjectPath(id), { key, method: 'DELETE' })
      const present = async ({ url }: TestService) => {
        const answers = await Promise.all(people.map((id) => askRaw(url, subjectPath(id), { key })))
        return people.filter((_, i) => answers[i]?.status === 200)
      }
      const entries = () =>
        readFileSync(journal, 'utf8')
          .split('\n')
          .flatMap((line): { index: number }[] => (line.includes('"erasure"') ? [JSON.parse(line)] : []))
          .map(({ index }) => index)
      return { ...place, cli, journal, serve, run, key, erase, present, entries }
    }

    it('that was reverted replays its journal before it answers anything', async (t) => {
      const { serve, erase, present, copy, run, journal, entries } = await prepare(t)
      const setBack = await copy()
      const service = await serve()
      dataOf(await erase(service, 'anna'))
      dataOf(await erase(service, 'ben'))
      await service.stop()
      await setBack()
      const again = await serve()
      assert.deepEqual(await present(again), ['cleo', 'dora', 'emil', 'fay'])
      assert.match(again.logged.join('\n'), /"entries":2,.*the store was older than its journal/)
      dataOf(await erase(again, 'cleo'))
      await again.stop()
      assert.deepEqual(entries(), [0, 1, 2])
      const third = await serve()
      await third.stop()
      assert.doesNotMatch(third.logged.join('\n'), /journal/)
      const verified = await run('ledger', 'verify', '--journal', journal)
      assert.deepEqual([verified.code, verified.stderr], [0, ''])
    })

    for (const change of ['revoked', 'rotated'] as const) {
      it(`that was reverted to before a key and a token were ${change} repeats that before it answers anything`, async (t) => {
        const { serve, copy, journal } = await prepare(t)
        const first = await serve()
        const wanted = { organisationId: 'acme', name: 'another', scopes: allScopes(), expiresAt: null }
        const { key } = await createKey(first.services, wanted)
        const { token } = await createVariableToken(first.services, { trackerId: 'shop', name: 'site' })
        await first.stop()
        const setBack = await copy()
        const changes = {
          apiKeys: ({ services }: TestService) =>
            change === 'revoked' ? revokeKey(services, key.id, key.name) : rotateKey(services, key.id),
          variableTokens: ({ services }: TestService) =>
            change === 'revoked'
              ? revokeVariableToken(services, token.id, token.name)
              : rotateVariableToken(services, token.id),
        }
        for (const name of ['apiKeys', 'variableTokens'] as const) {
          const service = await serve()
          await changes[name](service)
          await service.stop()
          await setBack()
          const again = await serve()
          assert.match(again.logged.join('\n'), /the store was older than its journal/)
          const found = await again.services[name].find(name === 'apiKeys' ? key.id : token.id)
          assert.ok(found?.[`${change}At`], name)
          await again.stop()
          rmSync(journal)
          await setBack()
        }
      })
    }

    it('that was changed after it was reverted is reported at the start, and can be mended', async (t) => {
      const { serve, erase, present, copy, run, journal, entries, key } = await prepare(t)
      const setBack = await copy()
      const service = await serve()
      dataOf(await erase(service, 'anna'))
      dataOf(await erase(service, 'ben'))
      await service.stop()
      await setBack()
      const without = await serve({})
      dataOf(await erase(without, 'cleo'))
      await without.stop()
      const named = /"acme" and the journal .* have different entries at index 0.*--mend/
      await assert.rejects(serve(), named)
      const verified = await run('ledger', 'verify', '--journal', journal)
      assert.equal(verified.code, 1)
      assert.match(verified.stdout, /Entry 0 differs from the journal/)
      const replayed = await run('journal', 'replay', journal)
      assert.equal(replayed.code, 1)
      assert.match(replayed.stderr, /have different entries at index 0.*--mend/)
      // Even without mending, nobody who was erased came back.
      const meanwhile = await serve({})
      assert.deepEqual(await present(meanwhile), ['dora', 'emil', 'fay'])
      await meanwhile.stop()
      const mended = await run('journal', 'replay', journal, '--mend', '--json')
      assert.partialDeepStrictEqual(jsonLines(mended.stdout)[0], {
        entries: 2,
        movedEntries: 1,
        problems: [],
      })
      const again = await serve()
      assert.deepEqual(await present(again), ['dora', 'emil', 'fay'])
      dataOf(await erase(again, 'dora'))
      await again.stop()
      assert.deepEqual(entries(), [0, 1, 2, 3])
      assert.equal((await run('ledger', 'verify', '--journal', journal)).code, 0)
      const last = await serve()
      for (const [index, id] of ['anna', 'ben', 'cleo', 'dora'].entries()) {
        const { receipts } = dataOf(await askRaw(last.url, `${subjectPath(id)}/receipts`, { key }))
        const { verifierKeys } = dataOf(await askRaw(last.url, '/v1/analytics/ledger', { key }))
        assert.ok(Array.isArray(receipts) && Array.isArray(verifierKeys))
        const [{ receipt }] = receipts
        const verified = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: id })
        assert.equal(verified.index, index)
      }
    })

    it('that is reverted under a running service erases nothing until a restart', async (t) => {
      const { serve, erase, present, tamper } = await prepare(t)
      const service = await serve()
      dataOf(await erase(service, 'anna'))
      dataOf(await erase(service, 'ben'))
      await tamper('DELETE FROM ledger_entries WHERE ledger_index >= 1')
      await tamper('DELETE FROM tombstones WHERE ledger_index >= 1')
      for (const id of ['cleo', 'dora']) errorOf(await erase(service, id), 'internal_error')
      assert.deepEqual(await present(service), ['cleo', 'dora', 'emil', 'fay'])
      errorOf(await askRaw(service.url, '/readyz'), 'internal_error')
      assert.match(service.logged.join('\n'), /has 1 entries, but the journal has 2/)
      await service.stop()
      const again = await serve()
      assert.equal((await askRaw(again.url, '/readyz')).status, 200)
      dataOf(await erase(again, 'cleo'))
    })

    it('whose response to a commit is lost has the entry in its journal before the next one', async (t) => {
      const { serve, erase, entries, run, journal } = await prepare(t)
      const service = await serve()
      dataOf(await erase(service, 'anna'))
      const { services } = service
      const { subjects } = services
      const lossy = {
        ...services,
        subjects: {
          ...subjects,
          async erase(...args: Parameters<typeof subjects.erase>): Promise<never> {
            await subjects.erase(...args)
            throw new Error('the answer is lost')
          },
        },
      }
      const view = { organisationId: 'acme', trackerId: 'shop', since: earliestInstant }
      await assert.rejects(eraseSubject(lossy, view, 'ben'), /lost/)
      assert.deepEqual(entries(), [0, 1])
      // An erasure that another process, killed, did not write to its journal.
      await services.subjects.erase(view, 'cleo', testMark(view, 'cleo', Date.now()))
      assert.deepEqual(entries(), [0, 1])
      dataOf(await erase(service, 'dora'))
      assert.deepEqual(entries(), [0, 1, 2, 3])
      await service.stop()
      assert.equal((await run('ledger', 'verify', '--journal', journal)).code, 0)
    })

    it('whose entries were rewritten without the secret gets no signatures', async (t) => {
      const { serve, erase, present, tamper, run, key } = await prepare(t)
      const service = await serve({})
      for (const id of ['anna', 'ben', 'cleo']) dataOf(await erase(service, id))
      const rows = await tamper('SELECT record, edge, head_mac FROM ledger_entries ORDER BY ledger_index')
      const records = rows.map(({ record }) => String(record))
      const forged = [records[0]?.replace('"events":1', '"events":9') ?? '', records[2] ?? '']
      const macs = rows.map(({ head_mac }) => String(head_mac))
      await tamper('DELETE FROM ledger_entries')
      await tamper('DELETE FROM tombstones WHERE ledger_index = 1')
      await tamper('UPDATE tombstones SET ledger_index = 1 WHERE ledger_index = 2')
      let frontier: Frontier | null = null
      for (const [index, record] of forged.entries()) {
        frontier = appendLeaf(frontier, hashLeaf(record))
        await tamper(
          `INSERT INTO ledger_entries (organisation_id, ledger_index, record, edge, head_mac)
           VALUES ('acme', ${index}, '${record}', '${formatFrontier(frontier)}', '${macs[index]}')`,
        )
      }
      for (const mac of [...macs, '']) {
        await tamper(`UPDATE ledger_entries SET head_mac = '${mac}' WHERE ledger_index = 1`)
        errorOf(await askRaw(service.url, '/v1/analytics/ledger', { key }), 'internal_error')
        errorOf(await askRaw(service.url, `${subjectPath('cleo')}/receipts`, { key }), 'internal_error')
        errorOf(await erase(service, 'dora'), 'internal_error')
      }
      assert.deepEqual(await present(service), ['dora', 'emil', 'fay'])
      await service.stop()
      // Nor after a restart, which would adopt a store of version 0.2.
      const again = await serve({})
      errorOf(await askRaw(again.url, '/v1/analytics/ledger', { key }), 'internal_error')
      await again.stop()
      const verified = await run('ledger', 'verify', '--json')
      const [summary] = jsonLines(verified.stdout)
      assert.equal(verified.code, 1)
      assert.match(JSON.stringify(summary), /was not made with this installation's secrets/)
      assert.match(JSON.stringify(summary), /"checkpoint":null/)
    })
  })
}
