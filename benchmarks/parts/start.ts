// The time to the first response, memory, and the size of an installation.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makePackage } from '../../scripts/packaging/make-package.ts'
import type { Bench } from '../bench.ts'
import { measureRound } from '../load/load.ts'
import { lethe } from '../processes/root.ts'
import { startProcess } from '../processes/start-process.ts'
import { residentMegabytes } from '../processes/usage.ts'
import { Figures, type Group } from '../report/results.ts'
import type { StartSize } from '../sizes.ts'
import { type BenchStore, emptyStore } from '../stores/empty-store.ts'
import { fillStore, somePaths } from '../stores/fill-store.ts'

const subjects = 2_000
const eventsEach = 10

export async function measureStart(bench: Bench<StartSize>): Promise<Group[]> {
  const store = await emptyStore(bench.lifetime)
  await fillStore(store.env, subjects, eventsEach)
  const folder = mkdtempSync(join(tmpdir(), 'lethe-bench-'))
  bench.lifetime.after(() => rmSync(folder, { recursive: true, force: true }))
  await makePackage(folder)
  const installed = join(folder, lethe)
  return [
    await measureStarts(bench, store, installed),
    await measureMemory(bench, store, installed),
    measurePackage(folder),
  ]
}

async function measureStarts(
  { size, lifetime, tell }: Bench<StartSize>,
  store: BenchStore,
  installed: string,
): Promise<Group> {
  const programs = {
    'installed package': installed,
    'installed package, nothing cached of earlier starts': join(dirname(installed), '../src/main.js'),
    clone: lethe,
  }
  const figures = new Figures()
  tell(`${size.rounds} starts`)
  for (let round = -size.warmUps; round < size.rounds; round++) {
    for (const [name, script] of Object.entries(programs)) {
      const server = await startProcess(lifetime, script, ['serve', '--json'], store.env)
      await server.stop()
      if (round >= 0) figures.add(name, { startMs: server.startMs })
    }
  }
  return { name: 'first answer', rows: figures.rows() }
}

async function measureMemory(
  { size, lifetime, load, tell }: Bench<StartSize>,
  store: BenchStore,
  installed: string,
): Promise<Group> {
  const { connections, loadSeconds: seconds } = size
  const figures = new Figures()
  const headers = { authorization: `Bearer ${store.key}` }
  for (let round = 0; round < size.memoryRounds; round++) {
    tell(`memory, round ${round + 1} of ${size.memoryRounds}`)
    const server = await startProcess(lifetime, installed, ['serve', '--json'], store.env)
    await delay(seconds * 400)
    figures.add('idle', { megabytes: residentMegabytes(server.pid, 'VmRSS') })
    const paths = somePaths(subjects, subjects)
    await measureRound(load, server, { method: 'GET', headers, paths, connections, seconds })
    figures.add('under load', { megabytes: residentMegabytes(server.pid, 'VmRSS') })
    figures.add('at its most', { megabytes: residentMegabytes(server.pid, 'VmHWM') })
    await server.stop()
  }
  return {
    name: 'memory',
    rows: figures.rows(),
    notes: [`The installed package. Reads over ${connections} connections for ${seconds} s.`],
  }
}

interface Packed {
  size: number
  unpackedSize: number
}

function measurePackage(folder: string): Group {
  const packed: Packed[] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  const figures = new Figures()
  for (const { size, unpackedSize } of packed) {
    const bytes = { 'what is downloaded of Lethe': size, 'all of it, installed': unpackedSize }
    for (const [name, count] of Object.entries(bytes)) figures.add(name, { megabytes: count / 1e6 })
  }
  return { name: 'package', rows: figures.rows(), notes: ['Without Node itself.'] }
}
