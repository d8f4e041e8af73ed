import { Command, CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { readConfig, variables } from '../config.ts'
import { MissingStore, type Store } from '../domain/store.ts'
import { openBareStore, openServices, openServicesWithoutSecrets, withSecrets } from '../start.ts'
import { type CommandKit, exitCodeOf, failureOf, secretReports } from './command-kit.ts'
import { addCommands } from './command-list.ts'
import type { Terminal } from './terminal.ts'

/** How the store is opened for most commands, which are over in a moment. */
const brief = { writesHere: true }

/** Builds the command line as far as one needs it that begins with this word; all of it without. The docs are held against it. */
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
      withStore(await orSayHow(() => openServicesWithoutSecrets(config(), brief)), work),
    withSecrets: async (work) =>
      withStore(await orSayHow(() => openServices(config(), { ...brief, ...reports })), work),
    withSecretsAndThread: async (work) =>
      withStore(await orSayHow(() => openServices(config(), reports)), work),
    async ensureStore(work) {
      let isNew = false
      const onCreated = (place: string) => {
        isNew = true
        terminal.tell(`Made a new, empty store at ${place}.`)
      }
      const opened = await openServicesWithoutSecrets(config(), { ...brief, create: true, onCreated })
      return withStore(isNew ? await withSecrets(config(), opened, reports) : opened, work)
    },
    async withStoreAt(store, options, work) {
      return withStore(await openBareStore(store, options), work)
    },
  }
  const program = new Command('lethe')
    .description('A management API for the data subjects of a web-analytics service: list, read, erase.')
    .version(manifest.version, '--version', 'print the version')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.tell(text.trimEnd()),
    })
    .showHelpAfterError('Add --help for how it is used.')
    .exitOverride()
  await addCommands(program, kit, firstWord)
  addEnvironmentHelp(program)
  return program
}

/** Opens the configured store, and says how to come by one where there is none. */
async function orSayHow<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof MissingStore)) throw error
    error.message += ' Set LETHE_STORE to where it is, or make an empty one there with lethe init.'
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

/** Runs a command line and hands back the exit code: 0, 1 (failed), 2 (wrong usage). With `--json` a failure is JSON too. */
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
    // The parser of the command line has said it already.
    if (!(error instanceof CommanderError)) terminal.tell(`error: ${failure.message}`)
    if (isForScripts(args)) terminal.print(JSON.stringify({ ...outcome.summary, error: failure }))
    return exitCodeOf(failure)
  }
}

/** Whether `--json` was given, also where the rest of the command line makes no sense. */
function isForScripts(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}

/** What the help of a command says of the environment, by its first word; of the store where none is named. */
const named: Record<string, readonly (keyof typeof variables)[]> = {
  lethe: ['LETHE_STORE', 'LETHE_URL', 'LETHE_API_KEY'],
  subjects: ['LETHE_URL', 'LETHE_API_KEY'],
  receipts: ['LETHE_URL', 'LETHE_API_KEY'],
  health: ['LETHE_HOST', 'LETHE_PORT'],
  copy: [],
  completion: [],
}

/** Puts the variables that a command cannot do without below its help. */
export function addEnvironmentHelp(program: Command): void {
  addBelow(program, program.name())
  for (const command of program.commands) addToAll(command, command.name())
}

function addToAll(command: Command, firstWord: string): void {
  addBelow(command, firstWord)
  for (const inner of command.commands) addToAll(inner, firstWord)
}

function addBelow(command: Command, firstWord: string): void {
  const names = named[firstWord] ?? ['LETHE_STORE']
  if (names.length === 0) return
  const width = Math.max(...names.map((name) => name.length))
  const lines = names.map((name) => {
    const { fallback, takes } = variables[name]
    return `  ${name.padEnd(width)}  ${takes}${fallback === '' ? '' : ` (default: ${fallback})`}`
  })
  command.addHelpText('after', `\nEnvironment:\n${lines.join('\n')}`)
}
