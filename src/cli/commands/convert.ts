import { readFile } from 'node:fs/promises'
import { Argument, type Command, InvalidArgumentError } from 'commander'
import { type ConvertSummary, emptyConvertSummary } from '../../convert/convert-records.ts'
import { type ConvertOptions, type Format, UsageProblem } from '../../convert/format.ts'
import { formats, refusedFormats } from '../../convert/formats.ts'
import { identifierRule, isIdentifier } from '../../domain/identifier.ts'
import { InvalidJson, parseJson } from '../../domain/json.ts'
import type { CommandKit } from '../command-kit.ts'
import { ConvertedFiles } from '../convert-files.ts'
import { cannotRead, InputFiles, totalBytesOf } from '../input-files.ts'
import { counted, countsInWords, grouped, legible, Progress, shareOf, workProgress } from '../progress.ts'
import { type Terminal, UsageError } from '../terminal.ts'

interface ConvertFlags {
  tracker?: string
  map?: string
  delimiter?: string
  saltFile?: string
  daily?: true
  skipBots?: true
  skipStatic?: true
  dropQuery?: true
  json?: true
}

const progressEveryMs = 250

export function addConvertCommand(program: Command, { terminal, config, fail }: CommandKit): void {
  const format = new Argument('<format>', 'the system that the files come from')
    .choices(formats.map(({ name }) => name))
    .argParser(readFormat)
  program
    .command('convert')
    .description('convert exports of other systems to lines for import, on standard output')
    .addArgument(format)
    .argument('[file...]', 'exports, plain or compressed with gzip or zstd; standard input if omitted or -')
    .option('--tracker <id>', 'write this tracker into each line', readTracker)
    .option('--map <file>', 'csv: a JSON file that maps columns to fields of the import format')
    .option('--delimiter <character>', 'csv: the character between columns, or tab', readDelimiter)
    .option('--salt-file <file>', 'accesslog: at least 16 secret bytes, from which visitors get their IDs')
    .option('--daily', 'accesslog: give visitors another ID every day')
    .option('--skip-bots', 'accesslog: leave out requests of bots')
    .option('--skip-static', 'accesslog: leave out requests for images, scripts, styles and fonts')
    .option('--drop-query', 'accesslog: leave out the query strings of URLs')
    .option('--json', 'print the summary as one JSON object, on standard error')
    .addHelpText('after', helpText)
    .action(async (format: Format, files: string[], flags: ConvertFlags) => {
      const { maxLineBytes } = config()
      const options = await readOptions(format, flags)
      const names = files.length > 0 ? files : ['-']
      const input = new InputFiles(names, await totalBytesOf(names))
      const summary = emptyConvertSummary()
      const limits = { trackerId: flags.tracker, maxLineBytes }
      const converted = startConversion(() => new ConvertedFiles({ format, options, limits, summary }, input))
      await pourWithProgress(terminal, converted, input, summary)
      if (converted.failure !== null) terminal.tell(`error: ${converted.failure}`)
      if (flags.json) terminal.tell(JSON.stringify(toJson(format, summary, converted.failure)))
      else for (const line of inWords(format, summary)) terminal.tell(line)
      if (converted.failure !== null || summary.unusable > 0) fail()
    })
}

async function pourWithProgress(
  terminal: Terminal,
  converted: ConvertedFiles,
  input: InputFiles,
  summary: ConvertSummary,
): Promise<void> {
  const view = workProgress(() => ({
    unit: 'records',
    count: summary.records,
    share: shareOf(input.bytesRead, input.totalBytes),
  }))
  const progress = new Progress(terminal, Date.now, { view })
  const ticking = setInterval(() => progress.tick(), progressEveryMs)
  try {
    await terminal.pour(converted.text())
  } finally {
    clearInterval(ticking)
    progress.end()
    input.stop()
  }
}

function readFormat(name: string): Format {
  const format = formats.find((each) => each.name === name)
  if (format) return format
  const refusal = Object.hasOwn(refusedFormats, name) ? refusedFormats[name] : undefined
  const known = formats.map((each) => each.name).join(', ')
  throw new InvalidArgumentError(refusal ?? `Allowed choices are ${known}.`)
}

function readTracker(text: string): string {
  if (!isIdentifier(text)) throw new InvalidArgumentError(`Expected ${identifierRule}.`)
  return text
}

function readDelimiter(text: string): string {
  if (text === 'tab') return '\t'
  if (text.length !== 1 || /["\r\n]/.test(text))
    throw new InvalidArgumentError('Expected one character, such as ";", or tab.')
  return text
}

/** Options that the format does not use are refused. */
function checkOptions(format: Format, flags: ConvertFlags): void {
  const given: readonly [keyof ConvertOptions, string, unknown][] = [
    ['map', '--map', flags.map],
    ['delimiter', '--delimiter', flags.delimiter],
    ['salt', '--salt-file', flags.saltFile],
    ['daily', '--daily', flags.daily],
    ['skipBots', '--skip-bots', flags.skipBots],
    ['skipStatic', '--skip-static', flags.skipStatic],
    ['dropQuery', '--drop-query', flags.dropQuery],
  ]
  for (const [option, flag, value] of given) {
    if (value !== undefined && !format.options?.includes(option))
      throw new UsageError(`The format ${format.name} has no option ${flag}.`)
  }
}

/** Reads the files that options name. */
async function readOptions(format: Format, flags: ConvertFlags): Promise<ConvertOptions> {
  checkOptions(format, flags)
  const { saltFile, map, delimiter, daily, skipBots, skipStatic, dropQuery } = flags
  return {
    ...(map !== undefined && { map: parseMap(map, await contentOf(map)) }),
    ...(saltFile !== undefined && { salt: await contentOf(saltFile) }),
    ...{ delimiter, daily, skipBots, skipStatic, dropQuery },
  }
}

async function contentOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw cannotRead(file, error)
  }
}

function parseMap(file: string, bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    if (error instanceof InvalidJson) throw new UsageError(`Cannot use ${file}: ${error.message}.`)
    throw error
  }
}

function startConversion(start: () => ConvertedFiles): ConvertedFiles {
  try {
    return start()
  } catch (error) {
    if (error instanceof UsageProblem) throw new UsageError(error.message)
    throw error
  }
}

function toJson({ name }: Format, { reasons, ...counts }: ConvertSummary, failure: string | null) {
  return {
    format: name,
    ...counts,
    reasons: [...reasons].map(([reason, { records, file, number }]) => ({
      ...{ reason, records },
      first: { file, number },
    })),
    ...(failure !== null && { error: { code: 'failed', message: failure } }),
  }
}

function inWords({ name }: Format, summary: ConvertSummary): string[] {
  const { records, unusable, skipped } = summary
  const left = [`${grouped(unusable)} unusable`, ...(skipped > 0 ? [`${grouped(skipped)} skipped`] : [])]
  const lines = [...summary.reasons].map(
    ([reason, first]) =>
      `${counted(first.records, 'record')} could not be used: ${legible(reason)} (first: ${first.file}:${first.number}).`,
  )
  lines.push(`Read ${counted(records, 'record')} (${left.join(', ')}); wrote ${countsInWords(summary)}.`)
  if (records > 0 && unusable === records)
    lines.push(`No record could be used. Is this an export for ${name}?`)
  return lines
}

function helpText(): string {
  const width = Math.max(...formats.map(({ name }) => name.length))
  const list = formats.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `
Formats:
${list.join('\n')}

Example:
  lethe convert matomo export.json | lethe import - --tracker acme-shop`
}
