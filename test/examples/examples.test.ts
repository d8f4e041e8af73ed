import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { LetheClient } from '@lethe/client'
import { buildApp } from '../../examples/delete-account.js'
import { freePort } from '../deploy/run-proxy.ts'
import { runGuide } from '../guides/run-guide.ts'
import { startSampleService } from '../guides/sample-service.ts'
import { errorOf } from '../support/answers.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const execute = promisify(execFile)
const examples = fileURLToPath(new URL('../../examples', import.meta.url))

/** Runs an example until it ends, whatever its exit code. */
async function run(program: string, args: string[], env: Record<string, string>) {
  const options = { env: { PATH: process.env.PATH, ...env } }
  return await execute(program, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

test('export-subject.js writes a copy that only its owner can read, and never over another', async (t) => {
  const shop = await startShop(t, { scopes: ['analytics:view'] })
  await shop.ingest(visit('anna', { events: 250 }))
  const env = { LETHE_URL: shop.url, LETHE_API_KEY: shop.key }
  const file = join(temporaryFolder(t), 'anna.ndjson')
  const script = join(examples, 'export-subject.js')
  const outcome = await run(process.execPath, [script, 'shop', 'anna', file], env)
  assert.deepEqual(outcome, { code: 0, stdout: `${file}: sessions 1, events 250\n`, stderr: '' })
  assert.equal(readFileSync(file, 'utf8').trimEnd().split('\n').length, 252)
  assert.equal(statSync(file).mode & 0o777, 0o600)

  writeFileSync(file, 'mine')
  const again = await run(process.execPath, [script, 'shop', 'anna', file], env)
  assert.equal(again.code, 1)
  assert.equal(readFileSync(file, 'utf8'), 'mine')

  const missing = await run(process.execPath, [script, 'shop', 'nobody', `${file}.2`], env)
  assert.deepEqual(missing, { code: 1, stdout: '', stderr: 'Nothing is stored about this visitor.\n' })
  assert.ok(!existsSync(`${file}.2`))
})

test('erase-subject.sh erases whatever the id is, and waits when the budget is used up', async (t) => {
  const shop = await startShop(t, {
    scopes: ['analytics:view', 'analytics:delete-data'],
    env: { LETHE_LIMIT_ERASURE: '1/second' },
  })
  const ids = ['anna', 'a/b c+d%?#\u{1f9a6}']
  for (const id of ids) await shop.ingest(visit(id))
  const script = join(examples, 'erase-subject.sh')
  const env = { LETHE_URL: shop.url, LETHE_API_KEY: shop.key }
  const outcomes = await Promise.all(ids.map((id) => run('sh', [script, 'shop', id], env)))
  for (const { code, stdout } of outcomes) {
    assert.equal(code, 0)
    assert.match(stdout, /"alreadyErased":false/)
  }
  for (const id of ids) errorOf(await shop.ask(subjectPath(id), { key: shop.key }), 'not_found')
  assert.ok(shop.logged.some((line) => line.includes('"status":429')))

  const refused = await run('sh', [script, 'nowhere', 'anna'], env)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /"code":"not_found"/)
})

test('delete-account.js erases its customer, and does so later when the service is away', async (t) => {
  const port = await freePort()
  const toErase = new Set<string>()
  // What the service will accept as its key is not known before it starts.
  const start = () =>
    startShop(t, { scopes: ['analytics:delete-data', 'analytics:view'], env: { LETHE_PORT: String(port) } })
  const away = new LetheClient({ url: `http://127.0.0.1:${port}`, apiKey: 'none', retry: { maxAttempts: 1 } })
  const accounts = new Map([
    ['ada', { visitorId: 'anna' }],
    ['ben', { visitorId: 'ben' }],
  ])
  const parts = {
    trackerId: 'shop',
    accounts,
    toErase,
    whoIs: ({ headers }: { headers: Record<string, unknown> }) => String(headers['x-customer'] ?? '') || null,
  }
  const first = buildApp({ lethe: away, ...parts })
  t.after(() => first.app.close())
  const pending = await first.app.inject({
    method: 'DELETE',
    url: '/account',
    headers: { 'x-customer': 'ada' },
  })
  assert.deepEqual(pending.json(), { deleted: true, analytics: 'will be erased' })
  assert.deepEqual([...toErase], ['anna'])

  const shop = await start()
  await shop.ingest([...visit('anna'), ...visit('ben')])
  const { app, workOff } = buildApp({ lethe: new LetheClient({ url: shop.url, apiKey: shop.key }), ...parts })
  t.after(() => app.close())
  await workOff()
  assert.equal(toErase.size, 0)
  errorOf(await shop.ask(subjectPath('anna'), { key: shop.key }), 'not_found')

  const done = await app.inject({ method: 'DELETE', url: '/account', headers: { 'x-customer': 'ben' } })
  assert.deepEqual(done.json(), { deleted: true, analytics: 'erased' })
  errorOf(await shop.ask(subjectPath('ben'), { key: shop.key }), 'not_found')
  const stranger = await app.inject({ method: 'DELETE', url: '/account' })
  assert.equal(stranger.statusCode, 401)
})

test('the commands of examples/README.md print what it shows', async (t) => {
  const { shell, names, cli } = await startSampleService(t)
  const { LETHE_URL, LETHE_API_KEY } = {
    LETHE_URL: names['http://127.0.0.1:8080'] ?? '',
    LETHE_API_KEY: names['lethe_wzcQQiERfozkiuqn_…'] ?? '',
  }
  const port = await freePort()
  const app = spawn(process.execPath, [join(examples, 'delete-account.js')], {
    cwd: cli.folder,
    env: { PATH: process.env.PATH, LETHE_URL, LETHE_API_KEY, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    app.kill()
    await once(app, 'exit')
  })
  await once(app.stdout, 'data')
  await shell.run(
    `export LETHE_URL=${LETHE_URL} LETHE_API_KEY=${LETHE_API_KEY} && ln -s '${examples}' examples`,
  )
  await runGuide('examples/README.md', {
    shell,
    names: {
      ...names,
      'node examples': `'${process.execPath}' examples`,
      'http://127.0.0.1:3000': `http://127.0.0.1:${port}`,
    },
  })
})
