import { readdirSync, readFileSync } from 'node:fs'
import { quantile, type Sample } from './trend.ts'

/** The process that is watched, and where it is asked about itself. */
export interface Watched {
  pid: number
  metricsUrl: string
}

/** Looks at a process from outside (its memory and its handles, as Linux tells them) and from inside (its heap). */
export async function sample(
  { pid, metricsUrl }: Watched,
  second: number,
  latenciesMs: readonly number[],
): Promise<Sample> {
  const metrics = await (await fetch(metricsUrl)).text()
  return {
    second,
    residentMb: residentMb(pid),
    heapMb: numberIn(metrics, /^nodejs_heap_size_used_bytes (\S+)$/m) / 2 ** 20,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

export function residentMb(pid: number): number {
  return numberIn(readFileSync(`/proc/${pid}/status`, 'utf8'), /^VmRSS:\s+(\d+) kB$/m) / 1024
}

/** How long a process has been at work on a processor, as its metrics tell. */
export async function cpuSeconds({ metricsUrl }: Watched): Promise<number> {
  return numberIn(await (await fetch(metricsUrl)).text(), /^process_cpu_seconds_total (\S+)$/m)
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1])
}
