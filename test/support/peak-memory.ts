import assert from 'node:assert/strict'
import type { CommandLine, Outcome } from './command-line.ts'

export const importShop = ['import', '--tracker', 'shop', '--json']

interface Peak {
  outcome: Outcome
  /** In MB. */
  peak: number
}

/** Imports, and returns the peak resident memory. */
export function peakOf(cli: CommandLine, args: readonly string[], nodeOptions = ''): Promise<Peak> {
  return peakOfProgram(cli, [...importShop, ...args], nodeOptions)
}

/** Does the same for any command. */
export async function peakOfProgram(
  cli: CommandLine,
  args: readonly string[],
  nodeOptions = '',
): Promise<Peak> {
  const report = "process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))"
  const env = { NODE_OPTIONS: `${nodeOptions} --import=data:text/javascript,${report}` }
  const outcome = await cli.runProgram(args, { env })
  const [, kilobytes] = /peak (\d+)/.exec(outcome.stderr) ?? []
  assert.ok(kilobytes, outcome.stderr)
  return { outcome, peak: Number(kilobytes) / 1024 }
}
