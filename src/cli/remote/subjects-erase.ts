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
import { type EraseFlags, eraseMany } from './erase-many.ts'
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
    .description(
      'erase a data subject for good, all of a person, or all that a file names, within the budget',
    )
    .addArgument(trackerArgument('[tracker]'))
    .addArgument(subjectArgument('[subject]'))
    .option('--from-file <file>', 'erase those whose ids stand in a file, one a line; - for standard input')
    .addOption(byOption('erase all data subjects of a person, in every tracker'))
    .option('--receipts <folder>', 'with --by: a folder for the receipts, a file each')
    .option('--journal <file>', 'where to note what was done, to go on from (default: the file + .journal)')
    .addOption(
      new Option('--per-hour <count>', 'how many to erase an hour, as long as the service does not say')
        .default(defaultErasuresPerHour)
        .argParser(readCount),
    )
    .option('--yes', 'confirm it here, without a question')
    .option('--dry-run', 'ask the service what would go, and erase nothing')
    .option('--json', 'print one JSON object')
    .action((tracker: string | undefined, subject: string | undefined, options: EraseFlags) => {
      const settings = config()
      const { by } = options
      if (by) {
        if (tracker !== undefined || options.fromFile !== undefined)
          throw new UsageError('--by finds the data subjects itself: leave out the tracker and --from-file.')
        const work = (client: LetheClient) => erasePerson(kit, client, by, options)
        return withClient(settings, terminal, work)
      }
      if (tracker === undefined || options.receipts !== undefined)
        throw new UsageError('Name a tracker, or a person with --by, with which --receipts goes too.')
      if ((subject === undefined) === (options.fromFile === undefined)) {
        throw new UsageError('Name one data subject, or a file of them with --from-file.')
      }
      if (options.journal === '-') {
        throw new UsageError('A journal is a file; - is none. A file of that name is ./-')
      }
      if (subject === undefined) {
        const work = (client: LetheClient) => eraseMany(kit, client, tracker, options)
        return withClient(settings, terminal, work, { tellsWaits: options.dryRun ?? false })
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
    // A script is told so before anything is asked of the service.
    if (terminal.columns() !== null) await showWhatGoes(terminal, client, tracker, subject)
    const question = 'It cannot be undone. Type the id of the data subject to erase it: '
    if ((await flagOrAnswer(terminal, undefined, '--yes', question)) !== subject) throw notConfirmed()
  }
  const report = await client.eraseSubject(tracker, subject)
  terminal.print(json ? JSON.stringify(report) : inWords(report))
}

async function showWhatGoes(
  { tell }: Terminal,
  client: LetheClient,
  tracker: string,
  subject: string,
): Promise<void> {
  try {
    for (const line of describeSubject(await client.readSubject(tracker, subject))) tell(line)
  } catch (error) {
    if (isRefusal(error, 'forbidden')) tell('What will go cannot be shown: this key may erase, but not read.')
    else if (isRefusal(error, 'not_found'))
      tell(
        (await isHidden(client, tracker, subject))
          ? hiddenData
          : 'Nothing is stored about this data subject.',
      )
    else throw error
  }
}

const hiddenData = 'A shorter plan hides what is stored about this data subject. An erasure includes it.'

/** Whether a data subject that cannot be read is still stored, until a shorter plan deletes it. */
async function isHidden(client: LetheClient, tracker: string, subject: string): Promise<boolean> {
  for await (const { hidden = [] } of client.searchSubjects({ subjectId: subject }).pages())
    if (hidden.some(({ trackerId }) => trackerId === tracker)) return true
  return false
}

function inWords({ subjectId, alreadyErased, countsKnown, counts }: ErasureReport): string {
  const id = legible(subjectId)
  if (!alreadyErased) return `Erased ${id}: ${countsInWords(counts)}.`
  return countsKnown
    ? `${id} held no data: erased before, aged out, or never seen.`
    : `${id} holds no data now. An answer was lost on the way, so how much was deleted is not known.`
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number from 1 on.')
  return Number(text)
}

/**
 * Erases all data subjects of a person: shows who was found, asks, and erases one after the other within the budget. With a journal,
 * whom it is about lies in a file beside it until all of them are gone: who is erased is not found again.
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
  if (isResumed) terminal.tell(`Going on with the ${counted(found.length, 'subject')} in ${listFile}.`)
  else for (const line of [...foundTable(subjects), ...hiddenInWords(hidden.length)]) terminal.tell(line)
  if (dryRun || found.length === 0) {
    terminal.tell(found.length === 0 ? 'Nobody was found; nothing was erased.' : 'Nothing was erased.')
    if (json) summarise({ subjects, hidden, erasures: [], dryRun: dryRun ?? false })
    return
  }
  if (!yes) {
    const count = String(found.length)
    const question = `They cannot be brought back. Type how many will go, ${count}, to erase them: `
    if ((await flagOrAnswer(terminal, undefined, '--yes', question)).trim() !== count) throw notConfirmed()
  }
  if (listFile && !isResumed) await writeWhole(listFile, [JSON.stringify({ subjects, hidden })])
  const stop = new AbortController()
  const stopping = onStopSignal({
    onFirst: (signal) => stop.abort(new Error(`Stopped by ${signal} before the end; run it again to go on.`)),
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
      if (receipts !== undefined) await keepReceipt(receipts, outcome, receipt)
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

/** Whom a search found: those it shows, and those that a shorter plan hides. */
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

/** What this command wrote; before there were hidden ones, it was a list. */
async function readList(file: string): Promise<Found> {
  const written: Found | FoundSubject[] = JSON.parse(await readFile(file, 'utf8'))
  return Array.isArray(written) ? { subjects: written, hidden: [] } : written
}

async function keepReceipt(
  folder: string,
  { trackerId, subjectId }: SubjectRef,
  text: string,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = exportFileName(trackerId, subjectId).replace(/json$/, 'receipt.txt')
  await writeWhole(join(folder, name), [text])
}
