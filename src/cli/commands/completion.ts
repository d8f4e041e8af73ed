import { Argument, type Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { bashCompletion, type Completable, fishCompletion, zshCompletion } from './completion-scripts.ts'

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export function addCompletionCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands, options and their values')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .option('--json', 'print one JSON object')
    .action((shell: keyof typeof scripts, options: { json?: true }) => {
      config()
      const script = scripts[shell]([...completables(program)])
      terminal.print(options.json ? JSON.stringify({ shell, script }) : script.trimEnd())
    })
}

/** Every command with what may follow it, the program itself first. */
export function* completables(command: Command, words: readonly string[] = []): Generator<Completable> {
  const options = [...command.options, helpOption]
  yield {
    words,
    commands: command.commands.map((inner) => ({ name: inner.name(), description: inner.description() })),
    options: options.map(({ long, description, required, argChoices }) => ({
      name: long ?? '',
      description,
      takesValue: required,
      choices: argChoices ?? [],
    })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  }
  for (const inner of command.commands) yield* completables(inner, [...words, inner.name()])
}

const helpOption = { long: '--help', description: 'show how it is used', required: false, argChoices: [] }
