import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { createSample } from '../../src/operations/sample.ts'
import { openServices } from '../../src/start.ts'
import { type CommandLine, commandLine } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { inReverse } from '../support/in-reverse.ts'
import { type Lifetime, startTestService } from '../support/service.ts'
import { openShell, programHere, type Shell } from './shell.ts'

/** The key and the address of the sample in the guides. */
const sampleKey = 'lethe_wzcQQiERfozkiuqn_…'
export const sampleUrl = 'http://127.0.0.1:8080'

/**
 * The result of `npm start`: a service with the sample, on a store in the folder `data`, and a shell in the
 * parent folder.
 */
interface SampleService {
  cli: CommandLine
  shell: Shell
  names: Record<string, string>
  stop(): Promise<void>
  /** Starts it again at the same address. */
  start(): Promise<void>
}

/** The erasure budget is per hour, as in the guides, but large enough not to slow down a batch. */
const budgets = { LETHE_LIMIT_ERASURE: '500000/hour' }

/** The sample, of which each service gets a copy. */
interface Sample {
  key: string
  files: readonly (readonly [name: string, bytes: Uint8Array])[]
}

let making: Promise<Sample> | null = null

/** The path of the journal, if any, is relative to the folder of the shell. */
export async function startSampleService(
  lifetime: Lifetime,
  { journal }: { journal?: string } = {},
): Promise<SampleService> {
  making ??= makeSample()
  const { key, files } = await making
  const inOrder = inReverse(lifetime)
  const cli = commandLine(inOrder, 'sqlite:data/lethe.db')
  mkdirSync(join(cli.folder, 'data'))
  for (const [name, bytes] of files) writeFileSync(join(cli.folder, 'data', name), bytes, { mode: 0o600 })
  const port = String(await freePort())
  const settings = {
    LETHE_STORE: `sqlite:${join(cli.folder, 'data', 'lethe.db')}`,
    LETHE_PORT: port,
    ...budgets,
    ...(journal !== undefined && { LETHE_JOURNAL: join(cli.folder, journal) }),
  }
  let service = await startTestService(inOrder, settings)
  const program = await programHere(inOrder, cli.folder)
  return {
    cli,
    shell: openShell(inOrder, cli.folder, { LETHE_PORT: port }, { program }),
    names: { [sampleKey]: key, [sampleKey.slice(6, 22)]: key.slice(6, 22), [sampleUrl]: service.url },
    stop: () => service.stop(),
    async start() {
      service = await startTestService(inOrder, settings)
    },
  }
}

/** Creates the sample like `npm start`. */
async function makeSample(): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-sample-'))
  try {
    const config = readConfig({ LETHE_STORE: `sqlite:${join(folder, 'lethe.db')}` })
    const services = await openServices(config, { create: true, writesHere: true })
    const { issued } = await createSample(services)
    await services.close()
    const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const)
    return { key: issued.keyString, files }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
