import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { freshDatabase } from './fresh-database.ts'
import { startPostgres } from './postgres.ts'
import { until } from './until.ts'

async function query(url: string, sql: string): Promise<unknown[][]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

const isReached = (url: string) =>
  query(url, 'SELECT').then(
    () => true,
    () => false,
  )

describe('a PostgreSQL server for tests', () => {
  test('keeps its data and its port however it ends', async (t) => {
    const server = await startPostgres({})
    t.after(() => server.remove())
    assert.deepEqual(await query(server.url, 'SHOW fsync'), [['on']])
    await query(server.url, 'CREATE TABLE kept (ending text)')
    for (const ending of ['fast', 'immediate', 'killed'] as const) {
      await query(server.url, `INSERT INTO kept VALUES ('${ending}')`)
      await server.stop(ending)
      assert.equal(await isReached(server.url), false)
      await server.start()
    }
    assert.deepEqual(await query(server.url, 'SELECT * FROM kept'), [['fast'], ['immediate'], ['killed']])
  })

  test('can be paused with all its connections', async (t) => {
    const server = await startPostgres()
    t.after(() => server.remove())
    const client = new Client(server.url)
    await client.connect()
    await server.pause()
    const answers = Promise.all([client.query('SELECT'), query(server.url, 'SELECT')])
    assert.equal(await Promise.race([answers, setTimeout(500, 'silence')]), 'silence')
    await server.resume()
    await answers
    await client.end()
  })

  test('reports why it does not start', async () => {
    await assert.rejects(startPostgres({ shared_buffers: 'none' }), /did not start: .*shared_buffers/s)
  })

  test('ends with the process that started it, even if that is killed', async () => {
    const program = "const { startPostgres } = await import('./test/support/postgres.ts')"
    const child = spawn(
      process.execPath,
      ['-e', `${program}; console.log((await startPostgres()).url); setInterval(() => {}, 1_000)`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [url] = await once(child.stdout.setEncoding('utf8'), 'data')
    assert.equal(await isReached(url.trim()), true)
    child.kill('SIGKILL')
    await until(async () => !(await isReached(url.trim())))
  })
})

describe('a fresh database', () => {
  test('is empty, separate each time, and in UTF-8', async (t) => {
    const urls = [await freshDatabase(t), await freshDatabase(t)]
    for (const url of urls) {
      await query(url, 'CREATE TABLE mine ()')
      assert.deepEqual(await query(url, 'SHOW server_encoding'), [['UTF8']])
    }
  })

  test('does not sort text by bytes by default', async (t) => {
    const letters = "FROM unnest(ARRAY['a', 'B']) letter"
    const [byDefault] = await query(
      await freshDatabase(t),
      `SELECT min(letter), min(letter COLLATE "C") ${letters}`,
    )
    assert.deepEqual(byDefault, ['a', 'B'])
  })

  test('is dropped when its test ends, even if clients are connected', async () => {
    const endings: (() => void | Promise<void>)[] = []
    const url = await freshDatabase({ after: (work) => endings.push(work) })
    const client = new Client(url)
    let isCut = false
    client.on('error', () => {
      isCut = true
    })
    await client.connect()
    for (const end of endings) await end()
    await until(() => isCut)
    await assert.rejects(query(url, 'SELECT'), /does not exist/)
  })
})
