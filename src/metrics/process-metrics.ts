import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Clock } from '../domain/instant.ts'

/** The sampling interval. An idle event loop responds after exactly this time. */
const resolutionMs = 10

/** prom-client's default metrics cannot be stopped. */
export function processMetrics(registry: Registry, clock: Clock, version: string): { stop(): void } {
  const registers = [registry]
  new Gauge({
    name: 'lethe_build_info',
    help: 'Always 1; the labels contain the versions of Lethe and Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.version }, 1)
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process, in Unix time.',
    registers,
  }).set(clock() / 1000 - process.uptime())
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, over all threads.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Memory used by JavaScript values on the main thread.',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed)
    },
  })
  return eventLoopMetrics(registry)
}

function eventLoopMetrics(registry: Registry): { stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000)
  new Gauge({
    name: 'lethe_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape: median, 99th percentile and maximum.',
    labelNames: ['statistic'],
    registers: [registry],
    collect() {
      this.set({ statistic: 'median' }, seconds(delay.percentile(50)))
      this.set({ statistic: 'p99' }, seconds(delay.percentile(99)))
      this.set({ statistic: 'max' }, seconds(delay.max))
      delay.reset()
    },
  })
  return { stop: () => delay.disable() }
}
