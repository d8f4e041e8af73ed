import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuMicroseconds, residentMegabytes } from '../../benchmarks/processes/usage.ts'
import { binaryName, ownTarget } from '../../scripts/packaging/targets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type InstalledProgram, lethe, serve } from './installed-program.ts'
import { install, pack, root } from './packed.ts'

const rounds = 7
/** Long enough for an idle service to settle. */
const restMs = 2_000
const target = ownTarget()
const noFigures =
  process.platform === 'linux' && target ? false : 'what a process takes is read from /proc of Linux'

interface Figures {
  versionMs: number[]
  startMs: number[]
  firstAnswerMs: number[]
  idleMb: number[]
}

describe('the cost of each way to install it, compared to the clone,', { skip: noFigures }, () => {
  const folder = temporaryFolder({ after })
  const binary = join(folder, 'binary', binaryName(target ?? 'linux-x64'))
  const commands: Record<string, string[]> = {
    clone: [process.execPath, join(root, 'bin/lethe.js')],
    package: [process.execPath, join(folder, 'project/node_modules/lethe/bin/lethe.js')],
    binary: [binary],
  }
  before(() => {
    install(pack('lethe', folder), join(folder, 'project'))
    execFileSync(process.execPath, ['scripts/build-binary.ts', '--out', join(folder, 'binary')], {
      cwd: root,
    })
  })

  it('is no more processor time to start, and no more memory', async (t) => {
    const figures = new Map<string, Figures>()
    // In turns, so that other load affects all of them equally. The first round is not counted.
    for (let round = -1; round < rounds; round++) {
      for (const [name, command] of Object.entries(commands)) {
        const own = figures.get(name) ?? { versionMs: [], startMs: [], firstAnswerMs: [], idleMb: [] }
        figures.set(name, own)
        if (round < 0) await measure(t, { command, folder: temporaryFolder(t) })
        else append(own, await measure(t, { command, folder: temporaryFolder(t) }))
      }
    }
    const sizes: Record<string, number> = {
      clone: megabytesOf(join(root, 'src')) + megabytesOf(join(root, 'node_modules')),
      package: megabytesOf(join(folder, 'project/node_modules/lethe')),
      binary: megabytesOf(binary),
    }
    t.diagnostic(
      '| | size, MB | --version, CPU ms | serve to its first answer, CPU ms | the same, ms | idle, MB |',
    )
    for (const [name, own] of figures) {
      const cells = [own.versionMs, own.startMs, own.firstAnswerMs, own.idleMb].map((each) => median(each))
      t.diagnostic(`| ${[name, sizes[name] ?? 0, ...cells].map(rounded).join(' | ')} |`)
    }
    const [clone, ...others] = figures.values()
    assert.ok(clone)
    for (const other of others) {
      // Two runs of the same program differ by up to a tenth.
      for (const what of ['versionMs', 'startMs', 'idleMb'] as const) {
        assert.ok(median(other[what]) <= 1.1 * median(clone[what]), what)
      }
    }
  })
})

type Measured = Record<keyof Figures, number>

async function measure(t: { after(work: () => void): void }, program: InstalledProgram): Promise<Measured> {
  await lethe(program, ['init'])
  const versionMs = cpuOf(program, ['--version'])
  const from = performance.now()
  const service = await serve(t, program)
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
  const firstAnswerMs = performance.now() - from
  const startMs = (cpuMicroseconds(service.pid) ?? 0) / 1_000
  await delay(restMs)
  const idleMb = residentMegabytes(service.pid, 'VmRSS') ?? 0
  await service.stop()
  return { versionMs, startMs, firstAnswerMs, idleMb }
}

/** The CPU time of a command and its children. */
function cpuOf({ command, folder }: InstalledProgram, args: readonly string[]): number {
  const script = 'TIMEFORMAT=\'%U %S\'; time "$@" >/dev/null'
  const { stderr } = spawnSync('bash', ['-c', script, 'bash', ...command, ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  const [user = 0, system = 0] = stderr.trim().split(/\s+/).map(Number)
  return (user + system) * 1_000
}

function append(figures: Figures, measured: Measured): void {
  figures.versionMs.push(measured.versionMs)
  figures.startMs.push(measured.startMs)
  figures.firstAnswerMs.push(measured.firstAnswerMs)
  figures.idleMb.push(measured.idleMb)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function rounded(cell: string | number): string {
  return typeof cell === 'number' ? cell.toFixed(cell < 10 ? 1 : 0) : cell
}

function megabytesOf(path: string): number {
  const { size } = statSync(path)
  if (!statSync(path).isDirectory()) return size / 1e6
  return readdirSync(path).reduce((total, name) => total + megabytesOf(join(path, name)), 0)
}
