import { createReadStream } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { LetheError, Problems } from '../../domain/errors.ts'
import { formatInstant } from '../../domain/instant.ts'
import { InvalidJson, parseJson } from '../../domain/json.ts'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import {
  checkVariables,
  compareVariables,
  formatVariables,
  parseVariables,
  type Variables,
} from '../../domain/variable.ts'
import {
  currentVariables,
  editVariables,
  listVariableVersions,
  type VariableEdit,
  variablesAt,
} from '../../operations/variable.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted, legible, table } from '../progress.ts'
import { requireYes, type Terminal, UsageError } from '../terminal.ts'
import { changesInWords, excerpt } from './variable-changes.ts'

interface TrackerOptions {
  tracker: string
  json?: true | undefined
}

export function addVariablesCommand(program: Command, kit: CommandKit): void {
  const variables = program
    .command('variables')
    .description('variables of a tracker: list, get, set, unset, import, export, versions, restore')
  addReads(variables, kit)
  addSet(variables, kit)
  addUnset(variables, kit)
  addImport(variables, kit)
  addVersions(variables, kit)
}

function addReads(variables: Command, { terminal, withStore }: CommandKit): void {
  onTracker(variables, 'list', 'list the variables')
    .option(...asJsonLines)
    .action(({ tracker, json }: TrackerOptions) =>
      withStore(async (services) => {
        const all = [...(await currentVariables(services, tracker)).variables]
        const lines = json
          ? all.map(([name, value]) => JSON.stringify({ name, value }))
          : table(
              ['NAME', 'VALUE'],
              all.map(([name, value]) => [name, excerpt(value)]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )

  onTracker(variables, 'get', 'print the value of a variable as JSON')
    .argument('<name>', 'its name')
    .option(...asJson)
    .action((name: string, { tracker, json }: TrackerOptions) =>
      withStore(async (services) => {
        const { version, variables } = await currentVariables(services, tracker)
        if (!variables.has(name)) throw new LetheError('not_found', noVariable(name))
        const value = variables.get(name)
        terminal.print(json ? JSON.stringify({ name, value, version }) : JSON.stringify(value, null, 2))
      }),
    )

  onTracker(variables, 'export', 'print all variables as a JSON object, which import accepts')
    .option('--json', 'print it on one line')
    .action(({ tracker, json }: TrackerOptions) =>
      withStore(async (services) => {
        const { variables } = await currentVariables(services, tracker)
        terminal.print(formatVariables(variables, json ? undefined : 2))
      }),
    )
}

function addSet(variables: Command, { terminal, withStore }: CommandKit): void {
  onTracker(variables, 'set', 'add or change variables in one step and print what changed; others are kept')
    .argument('[name=json...]', 'names and values, such as limit=5 or greeting=\'"hello"\'')
    .option('--file <file>', 'a file with a JSON object of values by name, or - for standard input')
    .option(...asJson)
    .action((assignments: string[], { tracker, json, file }: TrackerOptions & { file?: string }) =>
      withStore(async (services) => {
        if ((file === undefined) === (assignments.length === 0)) {
          throw new UsageError('Expected either NAME=JSON or --file. Add --help for usage.')
        }
        const given = file === undefined ? readAssignments(assignments) : await readVariablesFile(file)
        const edit = { apply: (current: Variables) => new Map([...current, ...given]) }
        await change(terminal, services, { tracker, json, edit })
      }),
    )
}

function addUnset(variables: Command, { terminal, withStore }: CommandKit): void {
  onTracker(variables, 'unset', 'remove variables in one step and print what changed')
    .argument('<name...>', 'their names')
    .option(...asJson)
    .action((names: string[], { tracker, json }: TrackerOptions) =>
      withStore((services) => {
        const edit: VariableEdit = {
          apply(current, problems) {
            for (const name of names) if (!current.has(name)) problems.add(name, noVariable(name))
            return new Map([...current].filter(([name]) => !names.includes(name)))
          },
        }
        return change(terminal, services, { tracker, json, edit })
      }),
    )
}

const maxNamesTold = 20

function addImport(variables: Command, { terminal, withStore }: CommandKit): void {
  onTracker(variables, 'import', 'replace all variables by those in a file and print what changed')
    .argument('<file>', 'a file with a JSON object of values by name, or - for standard input')
    .option('--yes', 'remove variables that the file does not contain, without a question')
    .option(...asJson)
    .action((file: string, { tracker, json, yes }: TrackerOptions & { yes?: true }) =>
      withStore(async (services) => {
        const wanted = await readVariablesFile(file)
        const { version, variables } = await currentVariables(services, tracker)
        const removed = compareVariables(variables, wanted).filter(({ kind }) => kind === 'removed')
        if (!yes && removed.length > 0) {
          const names = removed.slice(0, maxNamesTold).map(({ name }) => name)
          const more = removed.length > names.length ? ', …' : '.'
          terminal.tell(`${counted(removed.length, 'variable')} will be removed: ${names.join(', ')}${more}`)
          // Nobody can answer on a standard input that was read to its end.
          const asker = file === '-' ? { ...terminal, ask: async () => null } : terminal
          await requireYes(asker, 'Type yes to continue: ', 'Not confirmed. Nothing was changed.')
        }
        const edit = { apply: () => wanted, basedOn: yes ? undefined : version }
        await change(terminal, services, { tracker, json, edit })
      }),
    )
}

function addVersions(variables: Command, { terminal, withStore }: CommandKit): void {
  onTracker(variables, 'versions', 'list the versions that are kept, newest first')
    .option(...asJsonLines)
    .action(({ tracker, json }: TrackerOptions) =>
      withStore(async (services) => {
        const all = await listVariableVersions(services, tracker)
        const lines = json
          ? all.map((each) => JSON.stringify({ ...each, changedAt: formatInstant(each.changedAt) }))
          : table(
              ['VERSION', 'CHANGED AT', 'WHO', 'ADDED', 'CHANGED', 'REMOVED'],
              all.map(({ version, changedAt, actor, added, changed, removed }) => [
                String(version),
                formatInstant(changedAt),
                legible(actor.kind === 'command-line' ? actor.kind : actor.name),
                ...[added, changed, removed].map(String),
              ]),
            )
        for (const line of lines) terminal.print(line)
      }),
    )

  onTracker(variables, 'restore', 'make an earlier version the current one again and print what changed')
    .argument('<version>', 'the number of a version that is kept', readVersion)
    .option(...asJson)
    .action((version: number, { tracker, json }: TrackerOptions) =>
      withStore(async (services) => {
        const { variables } = await variablesAt(services, tracker, version)
        await change(terminal, services, { tracker, json, edit: { apply: () => variables } })
      }),
    )
}

function onTracker(variables: Command, name: string, description: string): Command {
  return variables.command(name).description(description).requiredOption('--tracker <tracker>', 'the tracker')
}

const asJson = ['--json', 'print one JSON object'] as const
const asJsonLines = ['--json', 'print one JSON object per line'] as const

/** Edits the variables and prints what changed. */
async function change(
  terminal: Terminal,
  services: ServicesWithoutSecrets,
  { tracker, json, edit }: TrackerOptions & { edit: VariableEdit },
): Promise<void> {
  const { version, changes } = await editVariables(services, tracker, edit)
  const lines = json
    ? [JSON.stringify({ trackerId: tracker, version, changes })]
    : changesInWords(version, changes)
  for (const line of lines) terminal.print(line)
}

function noVariable(name: string): string {
  return `There is no variable ${JSON.stringify(name)}.`
}

function readVersion(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Expected the number of a version.')
  return Number(text)
}

function readAssignments(assignments: readonly string[]): Variables {
  const variables = new Map<string, unknown>()
  const problems = new Problems()
  for (const assignment of assignments) {
    const [, name, text] = /^([^=]*)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined || text === undefined) {
      throw new UsageError(`Expected NAME=JSON, not ${JSON.stringify(assignment)}. Add --help for usage.`)
    }
    if (variables.has(name)) problems.add(name, `${name} is given twice`)
    try {
      variables.set(name, parseJson(text))
    } catch (error) {
      if (!(error instanceof InvalidJson)) throw error
      problems.add(name, legible(invalidValue(name, text, error)))
    }
  }
  problems.throwIfAny()
  return variables
}

/** The shell removes the quotes of JSON text, so that is the usual mistake. */
function invalidValue(name: string, text: string, { message, cause }: InvalidJson): string {
  if (cause === undefined || /^\s*["[{]/.test(text)) return `${name}: ${message}`
  const quoted = JSON.stringify(text).replaceAll("'", `'\\''`)
  return `the value of ${name} is not valid JSON; for text, write ${name}='${quoted}'`
}

/** All variables of a tracker have at most 1 MiB, but people may indent them. */
const maxFileBytes = 16 * 1024 * 1024

/** Reads a JSON object of valid variables. */
async function readVariablesFile(file: string): Promise<Variables> {
  const source = file === '-' ? 'standard input' : file
  const problems = new Problems()
  const variables = parseVariables(await readText(file, source), problems)
  if (variables === null) {
    const reason = legible(problems.list()[0]?.message ?? '')
    throw new LetheError('validation_error', `Cannot read ${source}: ${reason}`)
  }
  checkVariables(variables, problems)
  problems.throwIfAny()
  return variables
}

async function readText(file: string, source: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      bytes += chunk.length
      if (bytes > maxFileBytes) throw new Error('it is larger than 16 MiB')
      chunks.push(chunk)
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw new Error(`Cannot read ${source}: ${error instanceof Error ? error.message : error}`)
  }
}
