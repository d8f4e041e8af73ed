import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { ConfigError, readConfig } from '../config.ts'
import { LetheError } from '../domain/errors.ts'
import { openWorkplace, type Workplace } from '../workplace.ts'
import { addActivityCommand } from './activity.ts'
import { addBackupCommand } from './backup.ts'
import type { CommandKit } from './command-kit.ts'
import { addCompletionCommand } from './completion.ts'
import { addConfigCommand } from './config.ts'
import { addCopyCommand } from './copy.ts'
import { addImportCommand } from './import.ts'
import { addKeysCommand } from './keys.ts'
import { addMembersCommand } from './members.ts'
import { addMigrateCommand } from './migrate.ts'
import { addOrgsCommand } from './orgs.ts'
import { addQuickstartCommand } from './quickstart.ts'
import { addScrubCommand } from './scrub.ts'
import { addServeCommand } from './serve.ts'
import { addStatusCommand } from './status.ts'
import { addSubjectsCommand } from './subjects.ts'
import { addSweepCommand } from './sweep.ts'
import type { Terminal } from './terminal.ts'
import { addTrackersCommand } from './trackers.ts'
import { UsageError } from './usage-error.ts'

/** Builds the whole command line. The docs are held against it. */
export function buildProgram(terminal: Terminal, fail = () => {}): Command {
  const kit: CommandKit = {
    terminal,
    fail,
    config: () => readConfig(terminal.env),
    withStore: async (work) => inWorkplace(await openWorkplace(readConfig(terminal.env)), work),
    async withStoreAt(store, options, work) {
      const { retentionDays } = readConfig(terminal.env)
      return inWorkplace(await openWorkplace({ store, retentionDays }, options), work)
    },
  }
  const program = new Command('lethe')
    .description('A management API for the data subjects of a web-analytics service: list, read, erase.')
    .version(packageVersion(), '--version', 'print the version')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.tell(text.trimEnd()),
    })
    .showHelpAfterError('Add --help for how it is used.')
    .exitOverride()
  addServeCommand(program, kit)
  addQuickstartCommand(program, kit)
  addOrgsCommand(program, kit)
  addTrackersCommand(program, kit)
  addKeysCommand(program, kit)
  addMembersCommand(program, kit)
  addActivityCommand(program, kit)
  addImportCommand(program, kit)
  addSubjectsCommand(program, kit)
  addSweepCommand(program, kit)
  addScrubCommand(program, kit)
  addBackupCommand(program, kit)
  addMigrateCommand(program, kit)
  addCopyCommand(program, kit)
  addStatusCommand(program, kit)
  addConfigCommand(program, kit)
  addCompletionCommand(program, kit)
  return program
}

async function inWorkplace<Result>(
  workplace: Workplace,
  work: (workplace: Workplace) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(workplace)
  } finally {
    await workplace.close()
  }
}

function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return version
}

/** Runs a command line and hands back the exit code: 0, 1 (failed), 2 (wrong usage). */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0
  const program = buildProgram(terminal, () => {
    exitCode = 1
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error, terminal)
  }
}

function report(error: unknown, { tell }: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ConfigError || error instanceof UsageError) {
    tell(`error: ${error.message}`)
    return 2
  }
  if (error instanceof LetheError) {
    const problems = error.details.map(({ message }) => message)
    tell(`error: ${problems.length > 0 ? problems.join('; ') : error.message}`)
    return 1
  }
  tell(`error: ${error instanceof Error ? error.message : String(error)}`)
  return 1
}
