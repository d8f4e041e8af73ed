import { execFileSync, type StdioOptions } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { root } from '../processes/root.ts'

/** The environment of a measurement. */
export interface Machine {
  processor: string
  cores: number
  memoryGigabytes: number
  system: string
  node: string
  sqlite: string
}

export function describeMachine(): Machine {
  const [first] = cpus()
  return {
    processor: `${first?.model.trim() ?? 'unknown'} (${process.arch})`,
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    sqlite: sqliteVersion(),
  }
}

function sqliteVersion(): string {
  const db = new DatabaseSync(':memory:')
  const row = db.prepare('SELECT sqlite_version() AS version').get()
  db.close()
  return String(row?.version)
}

/** The commit of the clone, and whether the code has changed since; `unknown` outside a clone. */
export function describeCommit(): string {
  try {
    const changes = git('status', '--porcelain', '--', 'src', 'bin', 'benchmarks', 'package-lock.json')
    return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : ', changed'}`
  } catch {
    return 'unknown'
  }
}

function git(...args: string[]): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio }).trim()
}
