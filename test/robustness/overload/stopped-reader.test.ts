import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { dataOf } from '../../support/answers.ts'
import { collectGarbage } from '../../support/collect-garbage.ts'
import { noProc } from '../../support/missing.ts'
import { requestText } from '../../support/raw-http.ts'
import { eventRow } from '../../support/rows.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../../support/shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

/** More exports than 64 MiB of memory can hold with 2 MiB each. */
const encodings = ['gzip', 'zstd', ...Array.from({ length: 34 }, () => 'identity')]
const events = 500
/** The minimum in the file for each export of 6 MB; the rest is in memory and in socket buffers. */
const spooledBytes = 1e6
/** In MB: the limit for data that waits in memory, in total. */
const maxMemory = 64

/** The sizes of the temporary files in which exports wait. */
function spools(folder: string): number[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    const path = `/proc/self/fd/${fd}`
    try {
      return readlinkSync(path).startsWith(join(folder, 'lethe-spool-')) ? [statSync(path).size] : []
    } catch {
      return []
    }
  })
}

/** The memory in use, in MB. */
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

describe('clients that stop reading during a large export', { skip: noProc }, () => {
  it('share one unnamed file and bounded memory, do not affect others, and leave nothing behind', async (t) => {
    const sockets: Socket[] = []
    const hangUp = () => {
      for (const socket of sockets) socket.destroy()
    }
    // Before the service stops, because it waits for its answers.
    t.after(hangUp)
    const folder = temporaryFolder(t)
    const shop = await startShop(t, {
      scopes: ['analytics:view', 'analytics:delete-data'],
      writesHere: false,
      env: { LETHE_SPOOL_DIR: folder },
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
    for (const encoding of encodings) {
      const headers = { 'Accept-Encoding': encoding }
      const request = requestText(`${subjectPath('busy')}/export`, { key, headers })
      sockets.push(await stopReading(shop.url, request))
    }
    // The organisation's next export starts when these are generated.
    dataOf(await shop.ask(`${subjectPath('anna')}/export`, { key }))
    assert.equal(spools(folder).length, 1)
    assert.ok((spools(folder)[0] ?? 0) > spooledBytes * encodings.length)
    assert.deepEqual(readdirSync(folder), [])
    for (let i = 0; i < 20; i++) dataOf(await shop.ask(subjectPath('anna'), { key }))
    dataOf(await shop.ask(subjectPath('busy'), { method: 'DELETE', key }))
    await until(() => memoryInUse() - before < maxMemory)
    assert.ok(
      sockets.every((socket) => !socket.closed),
      'all of them wait still',
    )
    hangUp()
    await until(() => spools(folder).length === 0)
  })
})
