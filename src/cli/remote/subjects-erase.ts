import type { ErasureReport, Identifier, LetheClient } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { countsInWords, legible } from '../progress.ts'
import { flagOrAnswer, type Terminal, UsageError } from '../terminal.ts'
import { type EraseManyFlags, eraseMany } from './erase-many.ts'
import { type ErasePersonFlags, erasePerson } from './erase-person.ts'
import { referenceOption } from './requests-create.ts'
import { describeSubject, subjectArgument, trackerArgument } from './subjects-read.ts'
import { byOption, isRefusal, notConfirmed, withClient } from './with-client.ts'

interface EraseFlags extends ErasePersonFlags, Omit<EraseManyFlags, 'reference'> {
  by?: Identifier
}

export function addSubjectsErase(subjects: Command, kit: CommandKit): void {
  const { terminal, config } = kit
  subjects
    .command('erase')
    .description('permanently erase a data subject, a person, or a list of data subjects')
    .addArgument(trackerArgument('[tracker]'))
    .addArgument(subjectArgument('[subject]'))
    .option('--from-file <file>', 'erase the IDs in a file, one per line; - for standard input')
    .addOption(byOption('erase all data subjects of a person, in every tracker'))
    .addOption(
      referenceOption('your own name for the requests of --by, or of --from-file, which requires it'),
    )
    .option('--receipts <folder>', 'with --by: a folder for the receipts, one file each')
    .option('--no-wait', 'with --by or --from-file: only start; the service continues on its own')
    .option('--yes', 'confirm without a question')
    .option('--dry-run', 'show what would be erased, but erase nothing')
    .option('--json', 'print one JSON object')
    .action((tracker: string | undefined, subject: string | undefined, options: EraseFlags) => {
      const settings = config()
      const work = workOf(kit, tracker, subject, options)
      return withClient(settings, terminal, work, {
        reportsWaits: options.fromFile === undefined || options.dryRun === true,
      })
    })
}

/** What the arguments ask for. Throws `UsageError` if they contradict each other. */
function workOf(
  kit: CommandKit,
  tracker: string | undefined,
  subject: string | undefined,
  options: EraseFlags,
): (client: LetheClient) => Promise<void> {
  const { terminal } = kit
  const { by, fromFile, reference, receipts, dryRun } = options
  if (by) {
    if (tracker !== undefined || fromFile !== undefined)
      throw new UsageError('--by cannot be combined with a tracker or --from-file.')
    return (client) => erasePerson(kit, client, by, options)
  }
  if (tracker === undefined || receipts !== undefined)
    throw new UsageError('Specify a tracker, or a person with --by. --receipts requires --by.')
  if ((subject === undefined) === (fromFile === undefined))
    throw new UsageError('Specify either one data subject or --from-file.')
  if (subject === undefined) {
    if (reference === undefined)
      throw new UsageError('--from-file requires --reference: with the same one, a repeated run continues.')
    return (client) => eraseMany(kit, client, tracker, { ...options, reference })
  }
  const work = dryRun ? preview : eraseOne
  return (client) => work(terminal, client, tracker, subject, options)
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
