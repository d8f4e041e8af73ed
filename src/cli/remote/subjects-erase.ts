import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  defaultErasuresPerHour,
  type ErasureReport,
  type FoundSubject,
  type Identifier,
  type LetheClient,
  type SubjectRef,
} from '@lethe/client'
import { fileJournal } from '@lethe/client/file-journal'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { exportFileName } from '../../domain/subject-export.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted, countsInWords, legible } from '../progress.ts'
import { flagOrAnswer, type Terminal, UsageError } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { confirmCount, type EraseFlags, eraseMany } from './erase-many.ts'
import {
  describeSubject,
  foundTable,
  hiddenInWords,
  subjectArgument,
  trackerArgument,
} from './subjects-read.ts'
import { writeWhole } from './whole-file.ts'
import { byOption, isRefusal, notConfirmed, withClient } from './with-client.ts'

export function addSubjectsErase(subjects: Command, kit: CommandKit): void {
  const { terminal, config } = kit
  subjects
    .command('erase')
    .description('permanently erase a data subject, a person, or a list of data subjects')
    .addArgument(trackerArgument('[tracker]'))
    .addArgument(subjectArgument('[subject]'))
    .option('--from-file <file>', 'erase the IDs in a file, one per line; - for standard input')
    .addOption(byOption('erase all data subjects of a person, in every tracker'))
    .option('--receipts <folder>', 'with --by: a folder for the receipts, one file each')
    .option(
      '--journal <file>',
      'the checkpoint file, from which a repeated run continues (default: the file + .journal)',
    )
    .addOption(
      new Option('--per-hour <count>', 'how many to erase per hour, until the service reports its budget')
        .default(defaultErasuresPerHour)
        .argParser(readCount),
    )
    .option('--yes', 'confirm without a question')
    .option('--dry-run', 'show what would be erased, but erase nothing')
    .option('--json', 'print one JSON object')
    .action((tracker: string | undefined, subject: string | undefined, options: EraseFlags) => {
      const settings = config()
      const { by } = options
      if (by) {
        if (tracker !== undefined || options.fromFile !== undefined)
          throw new UsageError('--by cannot be combined with a tracker or --from-file.')
        const work = (client: LetheClient) => erasePerson(kit, client, by, options)
        return withClient(settings, terminal, work)
      }
      if (tracker === undefined || options.receipts !== undefined)
        throw new UsageError('Specify a tracker, or a person with --by. --receipts requires --by.')
      if ((subject === undefined) === (options.fromFile === undefined)) {
        throw new UsageError('Specify either one data subject or --from-file.')
      }
      if (options.journal === '-') {
        throw new UsageError('--journal must be a file. For a file named -, use ./-')
      }
      if (subject === undefined) {
        const work = (client: LetheClient) => eraseMany(kit, client, tracker, options)
        return withClient(settings, terminal, work, { reportsWaits: options.dryRun ?? false })
      }
      const work = options.dryRun ? preview : eraseOne
      return withClient(settings, terminal, (client) => work(terminal, client, tracker, subject, options))
    })
}

async function preview(
  terminal: Terminal,
  client: LetheClient,
  tracker: string,
  subject: string,
  { json }: EraseFlags,
): Promise<void> {
  const record = await client.readSubject(tracker, subject).catch(async (error: unknown) => {
    if (isRefusal(error, 'not_found') && (await isHidden(client, tracker, subject))) return null
    throw error
  })
  if (record === null) {
    if (json)
      terminal.print(JSON.stringify({ trackerId: tracker, subjectId: subject, hidden: true, dryRun: true }))
    else for (const line of [hiddenData, 'Nothing was erased.']) terminal.print(line)
    return
  }
  const { trackerId, subjectId, counts } = record
  if (json) terminal.print(JSON.stringify({ trackerId, subjectId, counts, dryRun: true }))
  else for (const line of [...describeSubject(record), 'Nothing was erased.']) terminal.print(line)
}

async function eraseOne(
  terminal: Terminal,
  client: LetheClient,
  tracker: string,
  subject: string,
  { yes, json }: EraseFlags,
): Promise<void> {
  if (!yes) {
    // A script fails before it calls the service.
    if (terminal.columns() !== null) await showData(terminal, client, tracker, subject)
    const question = 'This cannot be undone. Type the ID of the data subject to erase it: '
    if ((await flagOrAnswer(terminal, undefined, '--yes', question)) !== subject) throw notConfirmed()
  }
  const report = await client.eraseSubject(tracker, subject)
  terminal.print(json ? JSON.stringify(report) : inWords(report))
}

async function showData(
  { tell }: Terminal,
  client: LetheClient,
  tracker: string,
  subject: string,
): Promise<void> {
  try {
    for (const line of describeSubject(await client.readSubject(tracker, subject))) tell(line)
  } catch (error) {
    if (isRefusal(error, 'forbidden'))
      tell('The data cannot be shown, because this key can erase but not read.')
    else if (isRefusal(error, 'not_found'))
      tell((await isHidden(client, tracker, subject)) ? hiddenData : 'This data subject has no data.')
    else throw error
  }
}

const hiddenData = 'A shorter plan hides the data of this data subject. The erasure includes it.'

/** Whether a shorter plan hides the data of this data subject, which is then still stored. */
async function isHidden(client: LetheClient, tracker: string, subject: string): Promise<boolean> {
  for await (const { hidden = [] } of client.searchSubjects({ subjectId: subject }).pages())
    if (hidden.some(({ trackerId }) => trackerId === tracker)) return true
  return false
}

function inWords({ subjectId, alreadyErased, countsKnown, counts }: ErasureReport): string {
  const id = legible(subjectId)
  if (!alreadyErased) return `Erased ${id}: ${countsInWords(counts)}.`
  return countsKnown
    ? `${id} had no data: already erased, expired, or never seen.`
    : `${id} has no data now. A response was lost, so it is unknown how much was deleted.`
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of at least 1.')
  return Number(text)
}

/**
 * Erases all data subjects of a person within the budget, after confirmation. Because an erased subject
 * cannot be found again, a list of them is kept next to the checkpoint file until all are erased.
 */
async function erasePerson(
  { terminal, fail, summarise }: CommandKit,
  client: LetheClient,
  identifier: Identifier,
  { journal, perHour, yes, dryRun, json, receipts }: EraseFlags,
): Promise<void> {
  const listFile = journal === undefined ? null : `${journal}.subjects`
  const isResumed = listFile !== null && existsSync(listFile)
  const { subjects, hidden } = isResumed ? await readList(listFile) : await find(client, identifier)
  const found = [...subjects, ...hidden]
  if (isResumed) terminal.tell(`Continuing with ${counted(found.length, 'subject')} in ${listFile}.`)
  else for (const line of [...foundTable(subjects), ...hiddenInWords(hidden.length)]) terminal.tell(line)
  if (dryRun || found.length === 0) {
    terminal.tell(found.length === 0 ? 'Nobody was found. Nothing was erased.' : 'Nothing was erased.')
    if (json) summarise({ subjects, hidden, erasures: [], dryRun: dryRun ?? false })
    return
  }
  if (!yes) await confirmCount(terminal, found.length)
  if (listFile && !isResumed) await writeWhole(listFile, [JSON.stringify({ subjects, hidden })])
  const stop = new AbortController()
  const stopping = onStopSignal({
    onFirst: (signal) =>
      stop.abort(new Error(`Stopped by ${signal} before the end. Run it again to continue.`)),
  })
  const erasures: object[] = []
  let failures = 0
  try {
    const options = {
      ...{ erasuresPerHour: perHour, signal: stop.signal },
      journal: journal === undefined ? undefined : fileJournal(journal),
    }
    for await (const outcome of client.erasePerson(found, options)) {
      const { trackerId, subjectId } = outcome
      const name = `${legible(trackerId)} ${legible(subjectId)}`
      if (outcome.status === 'failed') {
        failures += 1
        terminal.tell(`${name}: ${outcome.error.message}`)
        continue
      }
      const { counts, receipt } = outcome.erasure
      erasures.push(outcome.erasure)
      if (receipts !== undefined) await saveReceipt(receipts, outcome, receipt)
      if (json) continue
      const isHidden = hidden.some((each) => each.trackerId === trackerId && each.subjectId === subjectId)
      terminal.print(`Erased ${name}: ${isHidden ? 'hidden data' : countsInWords(counts)}.`)
    }
  } finally {
    stopping.release()
    if (json) summarise({ subjects, hidden, erasures, dryRun: false })
  }
  if (failures > 0) fail()
  else if (listFile) await rm(listFile, { force: true })
}

/** The result of a search: visible subjects, and those hidden by a shorter plan. */
interface Found {
  subjects: FoundSubject[]
  hidden: SubjectRef[]
}

async function find(client: LetheClient, identifier: Identifier): Promise<Found> {
  const found: Found = { subjects: [], hidden: [] }
  for await (const { subjects, hidden = [] } of client.searchSubjects({ identifier }).pages()) {
    found.subjects.push(...subjects)
    found.hidden.push(...hidden)
  }
  return found
}

/** Reads a list that an earlier run wrote. Earlier versions wrote an array. */
async function readList(file: string): Promise<Found> {
  const written: Found | FoundSubject[] = JSON.parse(await readFile(file, 'utf8'))
  return Array.isArray(written) ? { subjects: written, hidden: [] } : written
}

async function saveReceipt(
  folder: string,
  { trackerId, subjectId }: SubjectRef,
  text: string,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = exportFileName(trackerId, subjectId).replace(/json$/, 'receipt.txt')
  await writeWhole(join(folder, name), [text])
}
