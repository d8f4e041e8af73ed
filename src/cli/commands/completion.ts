import { Argument, type Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export function addCompletionCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .option('--json', 'print one JSON object')
    .action((shell: keyof typeof scripts, options: { json?: true }) => {
      config()
      const script = scripts[shell]([...completables(program)])
      terminal.print(options.json ? JSON.stringify({ shell, script }) : script.trimEnd())
    })
}

/** Every command with its possible continuations, the program itself first. */
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

const helpOption = { long: '--help', description: 'show usage', required: false, argChoices: [] }

interface Word {
  name: string
  description: string
}

/** A command and the words that can follow it. */
interface Completable {
  /** The words that select the command; none for the program itself. */
  words: readonly string[]
  commands: readonly Word[]
  options: readonly (Word & { takesValue: boolean; choices: readonly string[] })[]
  /** The values of its argument, if there is a fixed set. */
  choices: readonly string[]
}

/** For `source <(lethe completion bash)`. If nothing matches, bash completes file names. */
export function bashCompletion(commands: readonly Completable[]): string {
  const list = (words: readonly Word[]) => `candidates=${quoted(words.map(({ name }) => name).join(' '))}`
  // Bash ends a word at a colon, but scopes contain one, so the words are read from the line itself.
  return `_lethe() {
  local line=\${COMP_LINE:0:COMP_POINT} at='' previous='' word candidates=''
  local current=\${line##*[[:space:]]}
  local -a given
  read -ra given <<< "\${line%"$current"}"
  for word in "\${given[@]:1}"; do
${indented(2, commandCases(commands))}
    previous=$word
  done
${indented(1, candidateCases(commands, list, '$current'))}
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}
complete -o default -F _lethe lethe
`
}

/** For `source <(lethe completion zsh)`, or as a file `_lethe` in a folder of `fpath`. */
export function zshCompletion(commands: readonly Completable[]): string {
  const list = (words: readonly Word[]) =>
    `candidates=(${words
      .map(({ name, description }) => quoted(`${name.replaceAll(':', '\\:')}:${description}`))
      .join(' ')})`
  return `#compdef lethe
_lethe() {
  local at='' previous='' word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
${indented(2, commandCases(commands))}
    previous=$word
  done
${indented(1, candidateCases(commands, list, '$PREFIX'))}
  if (( $#candidates )); then
    _describe lethe candidates
  else
    _files
  fi
}
if [[ $funcstack[1] == _lethe ]]; then
  _lethe "$@"
else
  compdef _lethe lethe
fi
`
}

/** For `lethe completion fish | source`. */
export function fishCompletion(commands: readonly Completable[]): string {
  const known = commands.filter(({ words }) => words.length > 0).map(({ words }) => quoted(words.join(' ')))
  const lines = commands.flatMap(({ words, commands: inner, options, choices }) => {
    const complete = `complete -c lethe -n ${quoted(`__lethe_is ${quoted(words.join(' '))}`)}`
    const value = (all: readonly string[]) => (all.length > 0 ? `-x -a ${quoted(all.join(' '))}` : '-r')
    return [
      ...inner.map(({ name, description }) => `${complete} -f -a ${name} -d ${quoted(description)}`),
      ...(choices.length > 0 ? [`${complete} -f -a ${quoted(choices.join(' '))}`] : []),
      ...options.map(
        ({ name, description, takesValue, choices }) =>
          `${complete} -l ${name.slice(2)} ${takesValue ? `${value(choices)} ` : ''}-d ${quoted(description)}`,
      ),
    ]
  })
  return `function __lethe_is
  set -l at ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$at $word")
    contains -- "$next" ${known.join(' ')}
    and set at "$next"
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}

/** Cases that follow the words of the line to the selected command. */
function commandCases(commands: readonly Completable[]): string[] {
  const paths = commands.filter(({ words }) => words.length > 0).map(({ words }) => quoted(position(words)))
  return ['case "$at $word" in', `  ${paths.join(' | ')}) at="$at $word" ;;`, 'esac']
}

/** Cases that list what can follow: a value of the previous option, an option, a command or a value. */
function candidateCases(
  commands: readonly Completable[],
  list: (words: readonly Word[]) => string,
  current: string,
): string[] {
  const asWords = (choices: readonly string[]) => choices.map((name) => ({ name, description: '' }))
  const values = commands.flatMap(({ words, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ name, choices }) => `  ${quoted(`${position(words)} ${name}`)}) ${list(asWords(choices))} ;;`),
  )
  const rest = commands.flatMap(({ words, commands: inner, options, choices }) => [
    `  ${quoted(`${position(words)} -`)}) ${list(options)} ;;`,
    `  ${quoted(`${position(words)} `)}) ${list(inner.length > 0 ? inner : asWords(choices))} ;;`,
  ])
  return [
    'case "$at $previous" in',
    ...values,
    '  *)',
    `    word=''`,
    `    [[ ${current} == -* ]] && word='-'`,
    '    case "$at $word" in',
    ...rest.map((line) => `    ${line}`),
    '    esac ;;',
    'esac',
  ]
}

/** The selected command as the scripts write it: each word after a space. */
function position(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join('')
}

function indented(levels: number, lines: readonly string[]): string {
  return lines.map((line) => '  '.repeat(levels) + line).join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
