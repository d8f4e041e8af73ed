import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { LetheClient } from '@lethe/client'
import { buildApp, openAccounts } from '../../examples/delete-account.js'
import { runGuide } from '../guides/run-guide.ts'
import { startSampleService } from '../guides/sample-service.ts'
import { errorOf } from '../support/answers.ts'
import { freePort } from '../support/free-port.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const execute = promisify(execFile)
const examples = fileURLToPath(new URL('../../examples', import.meta.url))

const notThere = 'Nothing is stored about this visitor in this tracker, or there is no such tracker.\n'

/** Runs an example until it ends, with any exit code. */
async function run(program: string, args: string[], env: Record<string, string>) {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const options = { env: { PATH, NODE_COMPILE_CACHE, ...env } }
  return await execute(program, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

test('export-subject.js writes an export that only its owner can read, and overwrites no file', async (t) => {
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
  assert.deepEqual(missing, { code: 1, stdout: '', stderr: notThere })
  assert.ok(!existsSync(`${file}.2`))
})

test('erase-subject.sh supports any ID, and waits when the budget is used up', async (t) => {
  const shop = await startShop(t, {
    scopes: ['analytics:view', 'analytics:delete-data'],
    env: { LETHE_LIMIT_ERASURE: '1/second' },
  })
  const ids = ['anna', 'ben', 'a/b c+d%?#\u{1f9a6}']
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

test('erase-subject.sh fails behind a tunnelling proxy if the service refuses', async (t) => {
  const shop = await startShop(t, { scopes: ['analytics:view'] })
  await shop.ingest(visit('anna'))
  const home = temporaryFolder(t)
  writeFileSync(join(home, '.curlrc'), `proxy = ${await startTunnel(t)}\nproxytunnel\n`)
  const env = { LETHE_URL: shop.url, LETHE_API_KEY: shop.key, CURL_HOME: home }
  const refused = await run('sh', [join(examples, 'erase-subject.sh'), 'shop', 'anna'], env)
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /"code":"forbidden"/)
})

/** A proxy that only tunnels connections, as for HTTPS. */
async function startTunnel(t: TestContext): Promise<string> {
  const proxy = createServer()
  proxy.on('connect', ({ url }, client, head) => {
    const service = connect({ port: Number(url?.split(':').at(-1)), host: '127.0.0.1' }, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      service.write(head)
      client.pipe(service).pipe(client)
    })
    client.on('error', () => service.destroy())
    service.on('error', () => client.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  const address = proxy.address()
  assert.ok(typeof address === 'object' && address)
  return `http://127.0.0.1:${address.port}`
}

/** The application with its own database, and the level and message of each logged line. */
function openApp(t: TestContext, parts: { lethe: LetheClient; trackerId?: string; file: string }) {
  const logged: { level: number; msg: string; reason?: string }[] = []
  const accounts = openAccounts(parts.file)
  const { app, workOff } = buildApp({
    trackerId: 'shop',
    ...parts,
    accounts,
    whoIs: ({ headers }) => String(headers['x-customer'] ?? '') || null,
    logger: { level: 'warn', stream: { write: (line: string) => void logged.push(JSON.parse(line)) } },
  })
  t.after(async () => {
    await app.close()
    accounts.close()
  })
  const remove = (customer?: string) => {
    const headers = customer === undefined ? {} : { 'x-customer': customer }
    return app.inject({ method: 'DELETE', url: '/account', headers })
  }
  return { accounts, workOff, remove, logged }
}

const oneAttempt = { retry: { maxAttempts: 1 } }
const deleting = { scopes: ['analytics:delete-data', 'analytics:view'] } as const

test('delete-account.js erases a customer, and after a restart those who waited while the service was down', async (t) => {
  const file = join(temporaryFolder(t), 'accounts.db')
  const away = new LetheClient({ url: `http://127.0.0.1:${await freePort()}`, apiKey: 'none', ...oneAttempt })
  const first = openApp(t, { lethe: away, file })
  first.accounts.add('ada', 'anna')
  first.accounts.add('ben', 'ben')
  const pending = await first.remove('ada')
  assert.deepEqual(
    [pending.statusCode, pending.json()],
    [202, { deleted: true, analytics: 'will be erased' }],
  )
  assert.deepEqual(
    first.logged.map(({ level, msg }) => [level, msg]),
    [[40, 'an erasure failed and is tried again']],
  )
  assert.ok(!JSON.stringify(first.logged).includes('anna'))

  const shop = await startShop(t, deleting)
  await shop.ingest([...visit('anna'), ...visit('ben')])
  const lethe = new LetheClient({ url: shop.url, apiKey: shop.key })
  const { accounts, workOff, remove, logged } = openApp(t, { lethe, file })
  assert.deepEqual(accounts.toErase(), ['anna'])
  await workOff()
  assert.deepEqual(accounts.toErase(), [])
  errorOf(await shop.ask(subjectPath('anna'), { key: shop.key }), 'not_found')

  assert.deepEqual((await remove('ben')).json(), { deleted: true, analytics: 'erased' })
  errorOf(await shop.ask(subjectPath('ben'), { key: shop.key }), 'not_found')
  assert.equal((await remove()).statusCode, 401)
  assert.equal((await remove('ben')).statusCode, 401)
  assert.deepEqual(logged, [])
})

test('delete-account.js promises nothing and logs errors while its tracker is wrong, and erases once it is corrected', async (t) => {
  const shop = await startShop(t, deleting)
  await shop.ingest([...visit('anna'), ...visit('ben')])
  const lethe = new LetheClient({ url: shop.url, apiKey: shop.key, ...oneAttempt })
  const file = join(temporaryFolder(t), 'accounts.db')
  const wrong = openApp(t, { lethe, trackerId: 'shpo', file })
  wrong.accounts.add('ada', 'anna')
  wrong.accounts.add('ben', 'ben')
  for (const customer of ['ada', 'ben']) {
    const answer = (await wrong.remove(customer)).json()
    assert.deepEqual(answer, { deleted: true, analytics: 'not erased yet, our team will do it' })
  }
  await wrong.workOff()
  // One for each customer, and one for the round, which stops at the first because the next would fail too.
  assert.deepEqual(
    wrong.logged.map(({ level }) => level),
    [50, 50, 50],
  )
  assert.match(wrong.logged[2]?.reason ?? '', /tracker does not exist/)
  assert.deepEqual(wrong.accounts.toErase(), ['anna', 'ben'])

  const right = openApp(t, { lethe, file })
  await right.workOff()
  assert.deepEqual(right.accounts.toErase(), [])
  for (const id of ['anna', 'ben']) errorOf(await shop.ask(subjectPath(id), { key: shop.key }), 'not_found')
})

test('delete-account.js skips an invalid ID, and erases the others', async (t) => {
  const shop = await startShop(t, deleting)
  await shop.ingest(visit('ben'))
  const lethe = new LetheClient({ url: shop.url, apiKey: shop.key, ...oneAttempt })
  const { accounts, workOff, remove, logged } = openApp(t, {
    lethe,
    file: join(temporaryFolder(t), 'accounts.db'),
  })
  accounts.add('ada', 'a'.repeat(257))
  accounts.add('ben', 'ben')
  assert.equal((await remove('ada')).statusCode, 202)
  accounts.remove('ben')
  await workOff()
  assert.equal(accounts.toErase().length, 1)
  errorOf(await shop.ask(subjectPath('ben'), { key: shop.key }), 'not_found')
  assert.deepEqual(
    logged.map(({ level }) => level),
    [50, 50],
  )
})

test('the commands of examples/README.md print the documented output', async (t) => {
  const { shell, names, cli } = await startSampleService(t)
  const { LETHE_URL, LETHE_API_KEY } = {
    LETHE_URL: names['http://127.0.0.1:8080'] ?? '',
    LETHE_API_KEY: names['lethe_wzcQQiERfozkiuqn_…'] ?? '',
  }
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const port = await freePort()
  const app = spawn(process.execPath, [join(examples, 'delete-account.js')], {
    cwd: cli.folder,
    env: { PATH, NODE_COMPILE_CACHE, LETHE_URL, LETHE_API_KEY, PORT: String(port) },
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
