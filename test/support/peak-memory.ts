import assert from 'node:assert/strict'
import type { CommandLine, Outcome } from './command-line.ts'

export const importShop = ['import', '--tracker', 'shop', '--json']

/** Imports, and hands back the most memory that was resident, in MB. */
export async function peakOf(
  cli: CommandLine,
  args: readonly string[],
  nodeOptions = '',
): Promise<{ outcome: Outcome; peak: number }> {
  const report = "process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))"
  const env = { NODE_OPTIONS: `${nodeOptions} --import=data:text/javascript,${report}` }
  const outcome = await cli.runProgram([...importShop, ...args], { env })
  const [, kilobytes] = /peak (\d+)/.exec(outcome.stderr) ?? []
  assert.ok(kilobytes, outcome.stderr)
  return { outcome, peak: Number(kilobytes) / 1024 }
}
