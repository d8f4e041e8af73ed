import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts'
import { citusPrograms } from '../support/citus.ts'
import { listen } from '../support/listen.ts'
import { query } from '../support/raw-postgres.ts'
import type { Lifetime } from '../support/service.ts'
import { oldCluster } from './old-cluster.ts'

const programs = citusPrograms()

/**
 * A proxy that closes the connection after each new statement: the server executes it, but no answer arrives.
 */
async function startCuttingProxy(t: Lifetime, url: string): Promise<{ url: string; cuts(): number }> {
  const seen = new Set<string>()
  const server = createServer((client) => {
    const { hostname, port } = new URL(url)
    const onward = connect({ host: hostname, port: Number(port) })
    client.on('data', (bytes) => {
      onward.write(bytes)
      const text = bytes.toString('latin1')
      if (!/^[QP]/.test(text) || seen.has(text)) return
      seen.add(text)
      client.destroy()
      onward.end()
    })
    onward.on('data', (bytes) => client.write(bytes))
    for (const [socket, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      socket.on('error', () => {})
      socket.on('close', () => other.end())
    }
  })
  const port = await listen(server)
  t.after(() => void server.close())
  const own = new URL(url)
  own.port = String(port)
  return { url: own.href, cuts: () => seen.size }
}

/**
 * The contents of all tables, except the time of the conversion; the tables that Citus knows; and the size of
 * the data that the coordinator holds for each.
 */
async function contents(address: string): Promise<Record<string, unknown>> {
  const tables = await query(
    address,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  )
  const rows: Record<string, unknown> = {}
  for (const { name } of tables) {
    if (name === 'lethe_migrations') continue
    rows[String(name)] = await query(
      address,
      `SELECT (to_jsonb(x) - 'closed_at')::text AS row FROM ${name} x ORDER BY 1`,
    )
  }
  const known = await query(
    address,
    `SELECT logicalrelid::text, partmethod, repmodel, pg_relation_size(logicalrelid) AS bytes
     FROM pg_dist_partition ORDER BY 1`,
  )
  return { ...rows, known }
}

describe('a store distributed by 0.2.0', {
  skip: !programs && 'no Citus extension is installed',
}, () => {
  it('is the same whether or not its conversion was killed at every statement', async (t) => {
    const [interrupted, undisturbed] = await Promise.all([
      oldCluster(t, programs ?? ''),
      oldCluster(t, programs ?? ''),
    ])
    const proxy = await startCuttingProxy(t, interrupted)
    for (;;) {
      const before = proxy.cuts()
      const store = await openPostgresStore(proxy.url).catch((error) => {
        if (proxy.cuts() === before) throw error
        return null
      })
      if (store === null) continue
      await store.close()
      break
    }
    t.diagnostic(`killed at ${proxy.cuts()} statements`)
    assert.ok(proxy.cuts() > 20)
    const store = await openPostgresStore(undisturbed)
    await store.close()
    assert.deepEqual(await contents(interrupted), await contents(undisturbed))
  })

  it('is the same if 0.2.0 was killed before it removed the copy on the coordinator', async (t) => {
    const [killed, undisturbed] = await Promise.all([
      oldCluster(t, programs ?? '', { isKilled: true }),
      oldCluster(t, programs ?? ''),
    ])
    for (const address of [killed, undisturbed]) await (await openPostgresStore(address)).close()
    assert.deepEqual(await contents(killed), await contents(undisturbed))
  })

  it('is converted once when several processes start at the same time', async (t) => {
    const address = await oldCluster(t, programs ?? '')
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(address)))
    for (const store of stores) await store.close()
    const known = await query(address, 'SELECT logicalrelid::text AS name FROM pg_dist_partition ORDER BY 1')
    const names = known.map(({ name }) => name)
    assert.deepEqual(names, ['events', 'identifiers', 'scrubs', 'sessions', 'subjects'])
  })
})
