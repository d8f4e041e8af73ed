import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandLine, jsonLines, startServe } from '../support/command-line.ts'
import { startCollector } from '../support/otlp-collector.ts'
import { startShop, subjectsPath } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

/** Whether a process loaded code of OpenTelemetry, according to the coverage of V8. */
function hasLoadedOpenTelemetry(folder: string): boolean {
  // One file for each thread.
  const urls = readdirSync(folder).flatMap((file) => {
    const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    return result.map(({ url }) => url)
  })
  const scripts = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url))
  assert.ok(scripts.length > 1)
  return scripts.some(
    (path) =>
      path.includes('@opentelemetry') ||
      (!path.includes('node_modules') &&
        /^\/\/ .*node_modules\/@opentelemetry\//m.test(readFileSync(path, 'utf8'))),
  )
}

describe('a process', () => {
  for (const [what, env, isOn] of [
    [
      'loads nothing and opens no connections while it is off',
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      false,
    ],
    ['loads what it needs when it is on', { LETHE_OTLP: 'traces,metrics' }, true],
  ] as const) {
    it(what, async (t) => {
      const [collector, folder] = [await startCollector(t), temporaryFolder(t)]
      const server = await startServe(commandLine(t), {
        ...{ NODE_V8_COVERAGE: folder, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
        ...env,
      })
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
      server.kill('SIGTERM')
      const { code, stdout } = await server.ended
      assert.equal(code, 0)
      const request = jsonLines(stdout).find(({ msg }) => msg === 'request')
      assert.equal('traceId' in (request ?? {}), isOn)
      assert.equal(hasLoadedOpenTelemetry(folder), isOn)
      assert.equal(collector.connections > 0, isOn)
      assert.deepEqual(
        new Set(collector.requests.map(({ path }) => path)),
        new Set(isOn ? ['/v1/traces', '/v1/metrics'] : []),
      )
    })
  }
})

describe('a failing collector', () => {
  it('is logged once, and once when it recovers', async (t) => {
    const collector = await startCollector(t)
    collector.answers = 400
    const env = { ...collector.env, LETHE_OTLP: 'metrics', OTEL_METRIC_EXPORT_INTERVAL: '100' }
    const shop = await startShop(t, { env, scopes: ['analytics:view'] })
    const said = () =>
      shop.logged.map((line) => JSON.parse(line)).filter(({ signal }) => signal !== undefined)
    await until(() => collector.requests.length >= 3)
    collector.answers = 200
    await until(() => said().length > 1)
    assert.deepEqual(
      said().map(({ level, signal, msg }) => [level, signal, msg]),
      [
        [40, 'metrics', 'the collector does not accept exports'],
        [30, 'metrics', 'the collector accepts exports again'],
      ],
    )
  })

  it('delays neither requests nor the shutdown, and its queue is limited', async (t) => {
    const collector = await startCollector(t)
    collector.answers = 'never'
    const env = { ...collector.env, OTEL_EXPORTER_OTLP_TIMEOUT: '500' }
    const shop = await startShop(t, { env, scopes: ['analytics:view'] })
    const { key } = shop
    // Each request has at least four spans; beyond 2,048, spans are dropped.
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 50 }, () => shop.ask(subjectsPath, { key })))
    await until(() => collector.requests.length > 0)
    const from = performance.now()
    await shop.ask(subjectsPath, { key })
    await shop.stop()
    const took = performance.now() - from
    // The SDK itself waits for half a minute.
    assert.ok(took < 30_000, `took ${took} ms`)
    // One while the service runs; all waiting ones at shutdown.
    assert.ok(collector.mostAtOnce <= 6, `${collector.mostAtOnce} exports at once`)
  })
})
