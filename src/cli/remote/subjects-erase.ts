import { defaultErasuresPerHour, type ErasureReport, type LetheClient } from '@lethe/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { countsInWords } from '../counted.ts'
import { legible } from '../legible.ts'
import { flagOrAnswer } from '../questions.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { type EraseFlags, eraseMany } from './erase-many.ts'
import { erasePerson } from './erase-person.ts'
import { byOption } from './identifier-argument.ts'
import { subjectArgument, trackerArgument } from './subject-arguments.ts'
import { describeSubject } from './subjects-show.ts'
import { isRefusal, notConfirmed, withClient } from './with-client.ts'

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
