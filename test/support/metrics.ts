import assert from 'node:assert/strict'
import { join } from 'node:path'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { openMetrics } from '../../src/metrics/metrics.ts'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import type { Lifetime } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A sample: one line of the exposition. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** A metric, as its `TYPE` and `HELP` lines declare it. */
interface Family {
  name: string
  type: string
  help: string
}

export async function readText(metricsUrl: string | null): Promise<string> {
  assert.ok(metricsUrl !== null, 'the metrics are off')
  const response = await fetch(metricsUrl)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return response.text()
}

export async function readMetrics(metricsUrl: string | null): Promise<Sample[]> {
  return samplesOf(await readText(metricsUrl))
}

export function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      assert.notEqual(name, '', `not a sample: ${line}`)
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text])
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })
}

export function familiesOf(text: string): Family[] {
  const help = new Map(
    Array.from(text.matchAll(/^# HELP (\w+) (.+)$/gm), (match) => [match[1] ?? '', match[2] ?? '']),
  )
  return Array.from(text.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name = '', type = '']) => {
    const said = help.get(name)
    assert.ok(said, `${name} has no help`)
    return { name, type, help: said }
  })
}

/** The value of the only sample with this name and these labels; `null` if there is none. */
export function sampleValue(
  samples: readonly Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | null {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  )
  assert.ok(found.length <= 1, `${name} ${JSON.stringify(labels)} is ambiguous`)
  return found[0]?.value ?? null
}

/** Every metric that a service can have, on a store with a connection pool. */
export async function everyMetric(t: Lifetime): Promise<string> {
  const store = await openSqliteStore(join(temporaryFolder(t), 'lethe.db'))
  t.after(() => store.close())
  const metrics = openMetrics({
    store: { ...store, connections: () => ({ open: 5, busy: 3, waiting: 2 }) },
    limiter: new MemoryLimiter(Date.now),
    journal: { waitingLines: () => 0 },
    droppedLines: () => 0,
    clock: Date.now,
    version: '0.0.0',
  })
  t.after(() => metrics.stop())
  metrics.onAnswered('/healthz', 'GET', 200, 1)
  metrics.maintenance.onSwept({
    swept: { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0 },
    begunAt: Date.now(),
    durationMs: 1,
    isComplete: true,
  })
  return metrics.text()
}
