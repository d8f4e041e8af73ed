import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { loadGenerator } from '../../benchmarks/load/load.ts'
import { listen } from '../support/listen.ts'

const folders = (process.env.PATH ?? '').split(delimiter)
const noWrk = folders.some((folder) => existsSync(join(folder, 'wrk'))) ? false : 'no wrk on the PATH'

for (const [name, skip] of Object.entries({ autocannon: false, wrk: noWrk })) {
  test(`${name} requests every path from many addresses, and counts refusals`, { skip }, async (t) => {
    const [asked, addresses] = [new Set<string>(), new Set<string>()]
    const server = createServer((request, response) => {
      asked.add(`${request.method} ${request.url} ${request.headers.authorization}`)
      addresses.add(String(request.headers['x-forwarded-for']))
      // Slower than necessary, because this test does not measure throughput.
      setTimeout(() => response.writeHead(request.url === '/a' ? 200 : 404).end(), 2)
    })
    t.after(() => server.close())
    const port = await listen(server)
    const run = (seconds: number) =>
      loadGenerator(name).run({
        url: `http://127.0.0.1:${port}`,
        method: 'DELETE',
        headers: { authorization: 'Bearer key' },
        paths: ['/a', '/b?c=d'],
        ...{ connections: 4, seconds },
      })
    let result = await run(0.3)
    // On a busy machine, few requests are sent in such a short time.
    for (let longer = 1; result.requests <= 100 && longer < 10; longer *= 2) result = await run(longer)
    const { requests, seconds, refused, failed, p99Ms } = result
    assert.deepEqual([...asked].sort(), ['DELETE /a Bearer key', 'DELETE /b?c=d Bearer key'])
    assert.ok(addresses.size > 10 && addresses.size <= 1_000, `${addresses.size} addresses`)
    assert.ok(requests > 10 && seconds > 0.2 && p99Ms >= 0)
    assert.ok(Math.abs(refused - requests / 2) <= 4, `${refused} of ${requests} were refused`)
    assert.equal(failed, 0)
  })
}
