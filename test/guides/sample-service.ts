import { freePort } from '../deploy/run-proxy.ts'
import { type CommandLine, commandLine, type RunningProgram } from '../support/command-line.ts'
import type { Lifetime } from '../support/service.ts'
import { openShell, type Shell } from './shell.ts'

/** The key and the address of the sample, as the guides write them. */
export const sampleKey = 'lethe_wzcQQiERfozkiuqn_…'
export const sampleUrl = 'http://127.0.0.1:8080'

/** What `npm start` gives: a service with the sample, on a store in the folder `data`, and a shell in the folder above. */
export interface SampleService {
  cli: CommandLine
  shell: Shell
  names: Record<string, string>
  stop(): Promise<void>
  /** Starts it again, at the same address. */
  start(): Promise<void>
}

/** Budgets are out of the way, and that for erasures is by the hour, so that a batch sees it and loses no time. */
const budgets = {
  LETHE_LIMIT_IP: '1000000/minute',
  LETHE_LIMIT_KEY: '1000000/minute',
  LETHE_LIMIT_ERASURE: '500000/hour',
}

export async function startSampleService(
  lifetime: Lifetime,
  env: Record<string, string> = {},
): Promise<SampleService> {
  const cli = commandLine(lifetime, 'sqlite:data/lethe.db')
  const port = String(await freePort())
  const settings = { LETHE_PORT: port, ...budgets, ...env }
  let program: RunningProgram
  async function start(): Promise<RegExpExecArray> {
    program = cli.startProgram(['quickstart', '--json'], settings)
    return await program.waitFor(
      'stderr',
      /(?:shown this once:\n\n {2}(lethe_\w+)\n.*)?Lethe listens on (\S+)\n/s,
    )
  }
  const [, key = '', url = ''] = await start()
  return {
    cli,
    shell: openShell(lifetime, cli.folder, { LETHE_PORT: port }),
    names: { [sampleKey]: key, [sampleKey.slice(6, 22)]: key.slice(6, 22), [sampleUrl]: url },
    async stop() {
      program.kill('SIGTERM')
      await program.ended
    },
    async start() {
      await start()
    },
  }
}
