import { Command, CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { readConfig, variables } from '../config.ts'
import { MissingStore, type Store } from '../domain/store.ts'
import { openBareStore, openServices, openServicesWithoutSecrets, withSecrets } from '../start.ts'
import { type CommandKit, exitCodeOf, failureOf, secretReports } from './command-kit.ts'
import { addCommands } from './command-list.ts'
import type { Terminal } from './terminal.ts'

/** Most commands are short: they write in this thread instead of starting a writer. */
const brief = { writesHere: true }

/** Builds the program: only the command named `firstWord` if there is one, otherwise all of them. */
export async function buildProgram(
  terminal: Terminal,
  outcome: Pick<CommandKit, 'fail' | 'summarise'> = { fail() {}, summarise() {} },
  firstWord?: string,
): Promise<Command> {
  const config = () => readConfig(terminal.env)
  const reports = secretReports(terminal)
  const kit: CommandKit = {
    terminal,
    ...outcome,
    config,
    withStore: async (work) =>
      withStore(await withStoreHint(() => openServicesWithoutSecrets(config(), brief)), work),
    withSecrets: async (work) =>
      withStore(await withStoreHint(() => openServices(config(), { ...brief, ...reports })), work),
    withSecretsAndThread: async (work) =>
      withStore(await withStoreHint(() => openServices(config(), reports)), work),
    async ensureStore(work) {
      let isNew = false
      const onCreated = (place: string) => {
        isNew = true
        terminal.tell(`Created an empty store at ${place}.`)
      }
      const opened = await openServicesWithoutSecrets(config(), { ...brief, create: true, onCreated })
      return withStore(isNew ? await withSecrets(config(), opened, reports) : opened, work)
    },
    async withStoreAt(store, options, work) {
      return withStore(await openBareStore(store, options), work)
    },
  }
  const program = new Command('lethe')
    .description(
      'Answer access and erasure requests on web-analytics data: find, export and erase people, and prove it.',
    )
    .version(manifest.version, '--version', 'print the version')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.tell(text.trimEnd()),
    })
    .showHelpAfterError('Add --help for usage.')
    .exitOverride()
  // To print the version needs none of them.
  if (firstWord !== '--version') await addCommands(program, kit, firstWord)
  addEnvironmentHelp(program)
  return program
}

/** Opens the configured store. If there is none, the error says how to create one. */
async function withStoreHint<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof MissingStore)) throw error
    error.message += ' Check LETHE_STORE, or create an empty store there with lethe init.'
    throw error
  }
}

async function withStore<Opened extends Store, Result>(
  store: Opened,
  work: (store: Opened) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Runs a command line and returns the exit code: 0, 1 (failure) or 2 (incorrect usage). */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const outcome: { exitCode: number; summary: object | null } = { exitCode: 0, summary: null }
  const report = {
    fail: () => {
      outcome.exitCode = 1
    },
    summarise: (summary: object) => {
      outcome.summary = summary
    },
  }
  const program = await buildProgram(terminal, report, args[0])
  try {
    await program.parseAsync(args, { from: 'user' })
    if (outcome.summary !== null) terminal.print(JSON.stringify(outcome.summary))
    return outcome.exitCode
  } catch (error) {
    const failure = failureOf(error)
    if (failure === null) return 0
    // Commander has already printed its own errors.
    if (!(error instanceof CommanderError)) terminal.tell(`error: ${failure.message}`)
    if (wantsJson(args)) terminal.print(JSON.stringify({ ...outcome.summary, error: failure }))
    return exitCodeOf(failure)
  }
}

/** Whether `--json` was given, even if the rest of the command line is invalid. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}

/** The variables in the help of each command, by its first word. The default is `LETHE_STORE`. */
const helpVariables: Record<string, readonly (keyof typeof variables)[]> = {
  lethe: ['LETHE_STORE', 'LETHE_URL', 'LETHE_API_KEY'],
  subjects: ['LETHE_URL', 'LETHE_API_KEY'],
  requests: ['LETHE_URL', 'LETHE_API_KEY'],
  ship: ['LETHE_URL', 'LETHE_API_KEY'],
  receipts: ['LETHE_URL', 'LETHE_API_KEY'],
  health: ['LETHE_HOST', 'LETHE_PORT'],
  convert: [],
  copy: [],
  completion: [],
}

/** Adds the variables that a command needs to its help. */
function addEnvironmentHelp(program: Command): void {
  addVariables(program, program.name())
  for (const command of program.commands) addToAll(command, command.name())
}

function addToAll(command: Command, firstWord: string): void {
  addVariables(command, firstWord)
  for (const inner of command.commands) addToAll(inner, firstWord)
}

function addVariables(command: Command, firstWord: string): void {
  const names = helpVariables[firstWord] ?? ['LETHE_STORE']
  if (names.length === 0) return
  const width = Math.max(...names.map((name) => name.length))
  const lines = names.map((name) => {
    const { fallback, accepts } = variables[name]
    return `  ${name.padEnd(width)}  ${accepts}${fallback === '' ? '' : ` (default: ${fallback})`}`
  })
  command.addHelpText('after', `\nEnvironment:\n${lines.join('\n')}`)
}
