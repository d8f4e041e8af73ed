import { existsSync } from 'node:fs'
import type { ClientError } from '@lethe/client'
import { type Command, InvalidArgumentError } from 'commander'
import { type Config, readConfig } from '../../config.ts'
import { isSameFile } from '../../runtime/same-file.ts'
import type { CommandKit } from '../command-kit.ts'
import { addedInWords, counted, grouped } from '../progress.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { pause, ShipDelivery, type ShipTotals } from './ship-delivery.ts'
import type { FilePosition } from './ship-file.ts'
import { FollowedFile, type ShipSource, StreamSource } from './ship-source.ts'
import { ShipState } from './ship-state.ts'
import { Shipper } from './shipper.ts'
import { readId } from './subjects-read.ts'
import { whatToDo, withClient } from './with-client.ts'

interface ShipFlags {
  tracker: string
  to?: string
  state?: string
  rejects?: string
  interval: number
  once?: true
  json?: true
}

const defaultIntervalSeconds = 5
/** How often to look for new lines. */
const maxPollMs = 500
const standardInput = '-'

export function addShipCommand(program: Command, kit: CommandKit): void {
  program
    .command('ship')
    .description('send the lines of a growing file to a running service, and remember how far')
    .argument('<file>', 'the file to follow, or - for standard input')
    .requiredOption('--tracker <id>', 'the tracker that the lines belong to', readId)
    .option('--to <url>', 'the address of the service, instead of LETHE_URL', readUrl)
    .option('--state <file>', 'where to remember how far the file was sent; <file>.ship if omitted')
    .option('--rejects <file>', 'append lines that the service refuses to this file')
    .option('--interval <seconds>', 'how long a line waits for others', readSeconds, defaultIntervalSeconds)
    .option('--once', 'send the lines that exist, then exit')
    .option('--json', 'print the summary as one JSON object')
    .action((file: string, flags: ShipFlags) => ship(kit, file, flags))
}

async function ship(kit: CommandKit, file: string, flags: ShipFlags): Promise<void> {
  const { terminal, fail, summarise } = kit
  const config = configOf(kit, flags)
  requireOwnRejects(file, flags)
  const stop = new AbortController()
  const stopping = onStopSignal({ onFirst: () => stop.abort() })
  const state = file === standardInput ? null : ShipState.open(flags.state ?? `${file}.ship`, flags.tracker)
  let source: ShipSource | null = null
  try {
    source = state === null ? openInput(flags) : await openFile(file, state, flags, terminal)
    const totals = await run(config, kit, { source, state, stop: stop.signal, flags })
    const isOver = !stop.signal.aborted
    if (isOver && totals.refused > 0) fail()
    if (flags.json) summarise({ file, trackerId: flags.tracker, ...totals })
    else terminal.print(inWords(totals))
  } finally {
    stopping.release()
    await source?.close()
    state?.close()
  }
}

/** Rejected lines would be read again, and rejected again, or would destroy the state. */
function requireOwnRejects(file: string, { state = `${file}.ship`, rejects }: ShipFlags): void {
  if (rejects === undefined || file === standardInput) return
  for (const path of [file, state])
    if (isSameFile(rejects, path))
      throw new UsageError(`--rejects is the same file as ${path}. Choose another file.`)
}

interface Parts {
  source: ShipSource
  state: ShipState | null
  stop: AbortSignal
  flags: ShipFlags
}

/** Ships until stopped, until the input ends, or until everything was sent. */
function run(
  config: Config,
  { terminal }: CommandKit,
  { source, state, stop, flags }: Parts,
): Promise<ShipTotals> {
  const { tell } = terminal
  const { tracker: trackerId, once = false, rejects = null } = flags
  return withClient(
    config,
    terminal,
    async (client) => {
      const describe = (error: ClientError) => whatToDo(error, config.apiUrl)
      const delivery = new ShipDelivery({
        ...{ client, trackerId, stop, describe, tell },
        ...{ isOnce: once, findsAllRefused: rejects !== null },
      })
      const save = async (position: FilePosition) => state?.save(position)
      const timing = { intervalMs: flags.interval * 1_000, pollMs: pollMsOf(flags) }
      const options = { ...timing, maxLineBytes: config.maxLineBytes, isOnce: once, rejects }
      if (await delivery.check()) {
        tell(`Sending ${source.name} to ${config.apiUrl} from line ${source.start.lines + 1}.`)
        await new Shipper({ source, delivery, save, stop, tell }, options).run()
      }
      return delivery.totals
    },
    { maxAttempts: 1 },
  )
}

function openFile(
  file: string,
  state: ShipState,
  { interval, once }: ShipFlags,
  { tell }: Terminal,
): Promise<FollowedFile> {
  if (once && state.position === null && !existsSync(file)) throw new Error(`There is no file ${file}.`)
  const quietMs = once ? 0 : interval * 1_000
  return FollowedFile.open(file, state.position, { quietMs, now: () => performance.now(), tell })
}

function openInput(flags: ShipFlags): StreamSource {
  return new StreamSource(process.stdin, (signal) => pause(pollMsOf(flags), signal))
}

function pollMsOf({ interval }: ShipFlags): number {
  return Math.min(maxPollMs, interval * 1_000)
}

/** The configuration, with the address from the command line. */
function configOf({ config, terminal }: CommandKit, { to }: ShipFlags): Config {
  return to === undefined ? config() : readConfig({ ...terminal.env, LETHE_URL: to })
}

function inWords({ lines, refused, added, unchanged, tooOld, ofErased }: ShipTotals): string {
  const others = [`${grouped(refused)} refused`]
  if (unchanged > 0) others.push(`${grouped(unchanged)} already stored`)
  if (tooOld > 0) others.push(`${grouped(tooOld)} too old`)
  if (ofErased > 0) others.push(`${grouped(ofErased)} of erased subjects`)
  return `Sent ${counted(lines, 'line')} (${others.join(', ')}); added ${addedInWords(added)}.`
}

function readUrl(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected the address of a service.')
  return text
}

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text) && seconds > 0) return seconds
  throw new InvalidArgumentError('Expected a number of seconds above 0.')
}
