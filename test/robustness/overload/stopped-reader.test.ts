import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { dataOf } from '../../support/answers.ts'
import { noProc } from '../../support/no-proc.ts'
import { requestText } from '../../support/raw-http.ts'
import { eventRow } from '../../support/rows.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const encodings = ['identity', 'gzip', 'zstd']
const events = 1_250
/** What a spool holds of an export of 16 MB at least: the rest is in memory and on the connection. */
const spooledBytes = 5e6
/** In MB. An export that waits needs what its spool keeps in memory, and its packing. */
const memoryOfEach = 6

/** The sizes of the spools that this process has open. */
function spools(): number[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    const path = `/proc/self/fd/${fd}`
    try {
      return readlinkSync(path).includes('lethe-spool-') ? [statSync(path).size] : []
    } catch {
      return []
    }
  })
}

/** What is in use, in MB. */
function memoryInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_048_576
}

async function stopReading(url: string, request: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(request)
  await once(socket, 'data')
  socket.pause()
  return socket
}

describe('clients that stop reading in the middle of a large export', { skip: noProc }, () => {
  it('cost a file without a name each, hardly any memory, and nobody else anything; with them, all is gone', async (t) => {
    const shop = await startShop(t, {
      scopes: ['analytics:view', 'analytics:delete-data'],
      writesHere: false,
    })
    const { key } = shop
    await shop.ingest(visit('anna'))
    const rows = Array.from({ length: events }, (_, i) =>
      eventRow({
        ...{ subjectId: 'busy', eventId: `e${i}`, occurredAt: anHourAgo + i },
        properties: { text: randomBytes(9_000).toString('base64') },
      }),
    )
    await shop.ingest(rows)
    const before = memoryInUse()
    const sockets: Socket[] = []
    for (const encoding of encodings) {
      const headers: [string, string][] = [['Accept-Encoding', encoding]]
      const request = requestText(`${subjectPath('busy')}/export`, { key, headers })
      sockets.push(await stopReading(shop.url, request))
      t.after(() => void sockets.at(-1)?.destroy())
    }
    await until(() => spools().filter((size) => size > spooledBytes).length === encodings.length)
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith('lethe-spool-')),
      [],
    )
    for (let i = 0; i < 20; i++) dataOf(await shop.ask(subjectPath('anna'), { key }))
    dataOf(await shop.ask(subjectPath('busy'), { method: 'DELETE', key }))
    await until(() => memoryInUse() - before < memoryOfEach * encodings.length)
    assert.equal(spools().length, encodings.length, 'all of them wait still')
    for (const socket of sockets) socket.destroy()
    await until(() => spools().length === 0)
  })
})
