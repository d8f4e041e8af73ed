import type { Argument, Command, Option } from 'commander'
import { buildProgram } from '../../src/cli/run-cli.ts'
import { variables } from '../../src/config.ts'

/** The manual page of the program, generated from its help, in the format of `man`. */
export async function manPage(date: Date): Promise<string> {
  const program = await programForHelp()
  const day = date.toISOString().slice(0, 10)
  const lines = [
    `.TH LETHE 1 "${day}" "Lethe ${program.version()}" "User Commands"`,
    '.SH NAME',
    'lethe \\- list, read and erase the data subjects of a web\\-analytics service',
    '.SH SYNOPSIS',
    '.B lethe',
    '.I command',
    '.RI [ option ...]',
    '.SH DESCRIPTION',
    text(program.description()),
    '.PP',
    'Every command takes',
    '.BR \\-\\-help .',
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => [...sectionsOf(command, 'lethe')]),
    '.SH ENVIRONMENT',
    ...Object.entries(variables).flatMap(([name, { accepts, fallback }]) => [
      '.TP',
      `.B ${text(name)}`,
      text(`${accepts}${fallback === '' ? '' : ` (default: ${fallback})`}`),
    ]),
    '.SH EXIT STATUS',
    '0 when it did what it was asked to, 1 when it failed, 2 when it was used wrongly.',
    '.SH FILES',
    ...entry('/etc/lethe/lethe.env', 'the settings of the service, where it was installed as a package'),
    ...entry('/var/lib/lethe', 'its store, its secret and its backups'),
    '.SH SEE ALSO',
    '.BR systemctl (1)',
  ]
  return `${lines.join('\n')}\n`
}

/** The whole command line, for reading only. */
export function programForHelp(): Promise<Command> {
  return buildProgram(silent)
}

const silent = {
  env: {},
  print() {},
  async pour() {},
  tell() {},
  ask: async () => null,
  columns: () => null,
  draw() {},
}

/** A command and its subcommands. */
function* sectionsOf(command: Command, parents: string): Generator<string> {
  const name = `${parents} ${command.name()}`
  if (command.commands.length === 0 || command.registeredArguments.length > 0) {
    yield `.SS ${text([name, ...command.registeredArguments.map(written)].join(' '))}`
    yield text(sentence(command.description()))
    for (const argument of command.registeredArguments) {
      yield* entry(written(argument), described(argument))
    }
    for (const option of command.options) yield* entry(option.flags, described(option))
  }
  for (const inner of command.commands) yield* sectionsOf(inner, name)
}

function described({ description, argChoices }: Argument | Option): string {
  return argChoices ? `${description} (${argChoices.join(', ')})` : description
}

function written(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

function entry(name: string, meaning: string): string[] {
  return ['.TP', `.B ${text(name)}`, text(sentence(meaning))]
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

/** Literal text: none of it is a formatter command, and its hyphens can be copied into a shell. */
function text(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&')
}
