import { setTimeout as delay } from 'node:timers/promises'
import type { RunningProcess } from '../processes/start-process.ts'
import type { Figures } from '../report/results.ts'
import { somePaths } from '../stores/fill-store.ts'
import { SteadyRequests } from './steady-requests.ts'

const readEveryMs = 5

interface Readers {
  server: RunningProcess
  key: string
  /** The number of subjects to read. */
  subjects: number
  quietSeconds: number
}

/**
 * Reads 200 times per second and compares the durations while `work` runs with those before: a ratio of 0.5
 * means twice the time.
 */
export async function readsMeanwhile(
  { server, key, subjects, quietSeconds }: Readers,
  name: string,
  work: () => Promise<unknown>,
  figures: Figures,
  nameBefore = 'before',
): Promise<void> {
  const next = () => ({ kind: 'read', path: somePaths(1, subjects)[0] ?? '' })
  const reads = new SteadyRequests(server.url, key, next, readEveryMs)
  await delay(quietSeconds * 300)
  const before = (await reads.during(() => delay(quietSeconds * 1_000))).get('read')
  const during = (await reads.during(work)).get('read')
  await reads.stop()
  if (!before || !during) return
  figures.add(nameBefore, { ...before, ratio: 1 })
  figures.add(name, { ...during, ratio: before.p99Ms / during.p99Ms })
}
