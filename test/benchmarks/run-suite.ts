import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../benchmarks/processes/root.ts'
import type { Results } from '../../benchmarks/report/results.ts'

const execute = promisify(execFile)

/** Runs the benchmarks at toy size in a separate process, and returns the results. */
export async function runSuite(out: string, ...options: string[]): Promise<Results> {
  const args = [join(root, 'benchmarks/run.ts'), '--size', 'toy', '--out', out, '--json', ...options]
  const { stdout } = await execute(process.execPath, args, { maxBuffer: 2 ** 24 })
  return JSON.parse(stdout)
}
