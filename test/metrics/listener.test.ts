import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { after, describe, it, type TestContext } from 'node:test'
import { register as globalRegistry } from 'prom-client'
import { openMetricsListener } from '../../src/metrics/metrics-listener.ts'
import { assertRefused, commandLine, jsonLines, startServe } from '../support/command-line.ts'
import { listen } from '../support/listen.ts'
import { everyMetric, readText, samplesOf } from '../support/metrics.ts'
import { missing } from '../support/missing.ts'
import { openRawConnection } from '../support/raw-http.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startTestService({ after }, { LETHE_METRICS_PORT: '0' })

/** Listens on a port until it is closed or the test ends. */
async function takePort(t: TestContext): Promise<{ port: number; close(): void }> {
  const server = createServer()
  const close = () => void server.close()
  t.after(close)
  return { port: await listen(server), close }
}

/** Asserts the rules of OpenMetrics that the Prometheus format does not have. */
function assertOpenMetrics(text: string): void {
  assert.ok(text.endsWith('\n# EOF\n'))
  const lines = text.slice(0, -1).split('\n')
  assert.deepEqual(
    lines.filter((line) => line === ''),
    [],
  )
  let family = { name: '', type: '' }
  const seen = new Set<string>()
  for (const line of lines.slice(0, -1)) {
    const [, name, type] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? []
    if (name !== undefined && type !== undefined) {
      assert.ok(!seen.has(name), `${name} comes twice`)
      seen.add(name)
      family = { name, type }
      if (type === 'counter') assert.doesNotMatch(name, /_total$/)
    } else if (!line.startsWith('#')) {
      const suffixes = { counter: /^_total$/, gauge: /^$/, histogram: /^_(bucket|sum|count)$/ }
      const suffix = /^\w+/.exec(line)?.[0].slice(family.name.length) ?? ''
      assert.ok(line.startsWith(family.name), line)
      const expected =
        family.type === 'counter' || family.type === 'gauge' ? suffixes[family.type] : suffixes.histogram
      assert.match(suffix, expected, line)
    }
  }
}

describe('the listener of the metrics', () => {
  it('is off by default', async (t) => {
    for (const env of [{}, { LETHE_METRICS_PORT: 'off' }]) {
      const { metricsUrl } = await startTestService(t, env)
      assert.equal(metricsUrl, null)
    }
  })

  it('is separate from the API, which does not serve metrics', async () => {
    assert.notEqual(new URL(service.metricsUrl ?? '').port, new URL(service.url).port)
    assert.equal((await service.ask('/metrics')).status, 401)
  })

  it('listens on the configured host', async (t) => {
    const env = { LETHE_METRICS_PORT: '0', LETHE_METRICS_HOST: '::1' }
    const { metricsUrl } = await startTestService(t, env)
    assert.match(metricsUrl ?? '', /^http:\/\/\[::1\]:\d+\/metrics$/)
    assert.match(await readText(metricsUrl), /^lethe_build_info/m)
  })

  it('responds to GET /metrics, and with a plain 404 to all other requests', async () => {
    const { metricsUrl } = service
    const at = (path: string) => new URL(path, metricsUrl ?? '')
    assert.equal((await fetch(at('/metrics?collect=all'))).status, 200)
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/metrics/'],
      ['GET', '/metricsx'],
      ['GET', '/healthz'],
      ['GET', '/v1/analytics/openapi.json'],
      ['POST', '/metrics'],
      ['DELETE', '/metrics'],
    ] as const) {
      const response = await fetch(at(path), { method })
      assert.equal(response.status, 404, `${method} ${path}`)
      assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.match(await response.text(), /^Not found\./)
    }
  })

  it('responds to HEAD like GET, without the body', async () => {
    const head = await fetch(service.metricsUrl ?? '', { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    assert.equal(head.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.ok(Number(head.headers.get('content-length')) > 1_000)
  })

  it('responds in OpenMetrics if the client prefers it', async () => {
    await service.ask('/healthz')
    const read = async (accept: string) => {
      const response = await fetch(service.metricsUrl ?? '', { headers: { accept } })
      assert.equal(response.headers.get('vary'), 'Accept')
      return { type: response.headers.get('content-type') ?? '', text: await response.text() }
    }
    const names = async () => samplesOf((await read('')).text).map(({ name }) => name)
    // The first sweep adds samples.
    await until(async () => (await names()).includes('lethe_sweep_completed_timestamp_seconds'))
    for (const accept of [
      'application/openmetrics-text',
      'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    ]) {
      const { type, text } = await read(accept)
      assert.equal(type, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
      assertOpenMetrics(text)
      assert.deepEqual(
        samplesOf(text).map(({ name }) => name),
        await names(),
      )
    }
    for (const accept of [
      '*/*',
      'text/plain',
      'application/openmetrics-text;q=0.1,text/plain',
      'application/openmetrics-text;version=2.0.0',
    ]) {
      const { type, text } = await read(accept)
      assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8')
      assert.doesNotMatch(text, /# EOF/)
    }
  })

  it('disconnects a client that is too slow', async (t) => {
    const { port, close } = await openMetricsListener({
      host: '127.0.0.1',
      port: 0,
      timeouts: { headersTimeout: 40, requestTimeout: 80, connectionsCheckingInterval: 20 },
      text: async () => '',
      onError: () => {},
    })
    t.after(close)
    const slow = await openRawConnection(`http://127.0.0.1:${port}`)
    slow.send('GET /metrics HTTP/1.1\r\nHost:')
    assert.match(await slow.rest(), /^HTTP\/1\.1 408 /)
  })

  it('belongs to one service: two in a process are measured separately', async (t) => {
    const [one, other] = [
      await startTestService(t, { LETHE_METRICS_PORT: '0' }),
      await startTestService(t, { LETHE_METRICS_PORT: '0' }),
    ]
    await one.ask('/healthz')
    const seen = async ({ metricsUrl }: typeof one) => (await readText(metricsUrl)).includes('/healthz')
    await until(() => seen(one))
    assert.equal(await seen(other), false)
    assert.deepEqual(globalRegistry.getMetricsAsArray(), [])
  })

  it('counts failed reads separately, and logs the reason', async (t) => {
    const errors: unknown[] = []
    const broken = new Error('no such gauge')
    const { port, close } = await openMetricsListener({
      host: '127.0.0.1',
      port: 0,
      timeouts: {},
      text: () => Promise.reject(broken),
      onError: (error) => errors.push(error),
    })
    t.after(close)
    const response = await fetch(`http://127.0.0.1:${port}/metrics`)
    assert.equal(response.status, 500)
    assert.doesNotMatch(await response.text(), /gauge/)
    assert.deepEqual(errors, [broken])
  })

  it('is in the log, and stops with the service, even if a client holds a connection', async (t) => {
    const server = await startServe(commandLine(t), { LETHE_METRICS_PORT: '0' })
    const [, metricsUrl = ''] = await server.waitFor('stdout', /"metricsUrl":"([^"]+)"/)
    await readText(metricsUrl)
    const slow = await openRawConnection(metricsUrl)
    slow.send('GET /metrics HTTP/1.1\r\nHost:')
    server.kill('SIGTERM')
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(jsonLines(stdout).at(-1)?.msg, 'stopped')
    await assert.rejects(fetch(metricsUrl))
    slow.hangUp()
  })

  it('prevents startup if its port is in use, with one line that names it and exit code 1', async (t) => {
    const { port } = await takePort(t)
    const env = { LETHE_METRICS_PORT: String(port), LETHE_LOG_LEVEL: 'error' }
    const outcome = await commandLine(t).run(['serve'], { env })
    assertRefused(
      outcome,
      1,
      new RegExp(`^error: Port ${port} of 127\\.0\\.0\\.1 is taken. Set LETHE_METRICS_PORT `),
    )
  })

  it('closes if the port of the API is in use', async (t) => {
    const [taken, free] = [await takePort(t), await takePort(t)]
    free.close()
    const env = { LETHE_METRICS_PORT: String(free.port), LETHE_PORT: String(taken.port) }
    await assert.rejects(startTestService(t, env), {
      message: new RegExp(`^Port ${taken.port} of 127\\.0\\.0\\.1 is taken. Set LETHE_PORT `),
    })
    await assert.rejects(fetch(`http://127.0.0.1:${free.port}/metrics`))
  })

  it('writes output that promtool accepts', { skip: missing('promtool') }, async (t) => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await everyMetric(t),
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout + stderr)
  })
})
