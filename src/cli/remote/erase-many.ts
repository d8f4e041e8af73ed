import { createReadStream } from 'node:fs'
import {
  ApiError,
  type BatchOptions,
  type BatchOutcome,
  type BatchProgress,
  type ClientError,
  type Identifier,
  isIdentifier,
  type LetheClient,
} from '@lethe/client'
import { fileJournal } from '@lethe/client/file-journal'
import { identifierRule } from '../../domain/identifier.ts'
import type { CommandKit } from '../command-kit.ts'
import {
  counted,
  countsInWords,
  duration,
  grouped,
  legible,
  Progress,
  type ProgressView,
} from '../progress.ts'
import { readFailure, splitLines } from '../split-lines.ts'
import { flagOrAnswer, type Terminal } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { isRefusal, notConfirmed } from './with-client.ts'

const drawEveryMs = 250
const tellEveryMs = 600_000

/** What `erase` was told beside whom. */
export interface EraseFlags {
  fromFile?: string
  by?: Identifier
  receipts?: string
  journal?: string
  perHour: number
  yes?: true
  dryRun?: true
  json?: true
}

interface FailedErasure {
  subjectId: string
  code: string
  message: string
  requestId: string | null
}

/** Erases all data subjects that a file names: the plan first, then one after the other, and a summary whatever happens. */
export async function eraseMany(
  kit: CommandKit,
  client: LetheClient,
  tracker: string,
  flags: EraseFlags,
): Promise<void> {
  const { terminal } = kit
  const { fromFile = '-', perHour, yes, dryRun, json } = flags
  const ids = await readIdList(fromFile)
  const path = flags.journal ?? (fromFile === '-' ? null : `${fromFile}.journal`)
  const journal = path === null ? undefined : fileJournal(path)
  const pace = { journal, erasuresPerHour: perHour }
  const plan = await client.planErasures(tracker, ids, pace)
  const checked = dryRun ? await checkBatch(client, tracker, ids) : null
  terminal.tell(planInWords(plan, perHour, path))
  if (checked !== null) {
    if (json) kit.summarise({ ...summary(plan, [], dryRun), checked })
    else terminal.print(checkInWords(checked, plan.total))
    return
  }
  if (!yes && plan.done < plan.total) await confirm(terminal, plan)
  const stop = new AbortController()
  const stopping = onStopSignal({ onFirst: (signal) => stop.abort(stoppedBy(signal, path)) })
  try {
    const options = { ...pace, signal: stop.signal }
    await run(kit, plan, (more) => client.eraseSubjects(tracker, ids, { ...options, ...more }), json)
  } finally {
    stopping.release()
  }
}

async function confirm(terminal: Terminal, { total, done }: BatchProgress): Promise<void> {
  const count = String(total - done)
  const question = `They cannot be brought back. Type how many will go, ${count}, to erase them: `
  if ((await flagOrAnswer(terminal, undefined, '--yes', question)).trim() !== count) throw notConfirmed()
}

async function run(
  { terminal, fail, summarise }: CommandKit,
  plan: BatchProgress,
  erase: (options: BatchOptions) => AsyncIterable<BatchOutcome>,
  json?: true,
): Promise<void> {
  let progress = plan
  const failures: FailedErasure[] = []
  const shown = new Progress(terminal, Date.now, { view: () => batchProgress(progress), tellEveryMs })
  const ticking = setInterval(() => shown.tick(), drawEveryMs)
  const onProgress = (state: BatchProgress) => {
    progress = state
  }
  try {
    for await (const outcome of erase({ onProgress })) {
      if (outcome.status === 'erased') continue
      failures.push(failedErasure(outcome.subjectId, outcome.error))
      terminal.tell(`${legible(outcome.subjectId)}: ${outcome.error.message}`)
    }
  } finally {
    clearInterval(ticking)
    shown.end()
    if (json) summarise(summary(progress, failures))
    else terminal.print(summaryInWords(progress))
  }
  if (progress.failed > 0) fail()
}

function planInWords(
  { total, done, leftMs }: BatchProgress,
  perHour: number,
  journal: string | null,
): string {
  const noted = journal === null ? 'without a journal' : `noted in ${journal}`
  if (done === total) return `All ${counted(total, 'subject')} were done before.`
  const earlier = done === 0 ? '' : `${grouped(done)} of ${grouped(total)} were done before; `
  const most = `${grouped(perHour)} an hour`
  const pace = leftMs === 0 ? `no more than ${most}` : `about ${roughly(leftMs)} at ${most}`
  return `${earlier}${counted(total - done, 'subject')}, ${pace}, ${noted}.`
}

function batchProgress({ done, failed, total, leftMs }: BatchProgress): ProgressView {
  const ended = done + failed
  const share = ended / total
  const facts = [`${Math.floor(share * 100)}%`, `${grouped(ended)} of ${grouped(total)} subjects`]
  if (failed > 0) facts.push(`${failed} failed`)
  return { share, done: ended, facts: [...facts, `${duration(leftMs)} left`] }
}

function summaryInWords({
  erased,
  alreadyErased,
  unknown,
  failed,
  total,
  done,
  counts,
}: BatchProgress): string {
  const parts = [
    `Erased ${grouped(erased)} of ${counted(total, 'subject')}: ${countsInWords(counts)}.`,
    alreadyErased > 0 && `${grouped(alreadyErased)} held no data: erased before, aged out, or never seen.`,
    unknown > 0 &&
      `${grouped(unknown)} hold none now; what was deleted of them is not known, as an answer was lost.`,
    failed > 0 && `${grouped(failed)} failed; run it again to try them once more.`,
    total > done + failed && `${grouped(total - done - failed)} are left.`,
  ]
  return parts.filter((part) => part !== false).join(' ')
}

function summary(
  { total, done, leftMs: _, counts, ...rest }: BatchProgress,
  failures: readonly FailedErasure[],
  dryRun = false,
): object {
  const left = total - done - rest.failed
  return { subjects: total, ...rest, left, ...counts, failures, dryRun }
}

function failedErasure(subjectId: string, error: ClientError): FailedErasure {
  const { message, requestId } = error
  return { subjectId, code: error instanceof ApiError ? error.code : error.name, message, requestId }
}

function stoppedBy(signal: NodeJS.Signals, journal: string | null): Error {
  const next = journal === null ? 'without a journal it starts anew' : 'run it again to go on'
  return new Error(`Stopped by ${signal} before the end; ${next}.`)
}

/** How long something takes, no finer than matters. */
function roughly(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return `${Math.ceil(ms / 1_000)} s`
  if (minutes < 60) return `${minutes} min`
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

/** How many data subjects a dry run reads at most: with the budgets as they are by default, it then waits for none of them. */
const mostChecked = 50

/** What the service says of the data subjects of a batch that were looked at. */
interface CheckedBatch {
  subjects: number
  holdingData: number
  sessions: number
  events: number
}

/** Asks the service for the tracker and, spread over the list, for the data subjects of a batch. Erases nothing. */
async function checkBatch(
  client: LetheClient,
  tracker: string,
  ids: readonly string[],
): Promise<CheckedBatch> {
  // A subject that is not there and a tracker that is not are the same 404; only a list tells them apart.
  await client.listSubjects(tracker, { limit: 1 }).pages().next()
  const checked = { subjects: Math.min(ids.length, mostChecked), holdingData: 0, sessions: 0, events: 0 }
  for (let number = 0; number < checked.subjects; number++) {
    const counts = await countsOf(client, tracker, ids[spread(number, checked.subjects, ids.length)] ?? '')
    if (counts === null) continue
    checked.holdingData += 1
    checked.sessions += counts.sessions
    checked.events += counts.events
  }
  return checked
}

function checkInWords({ subjects, holdingData, ...counts }: CheckedBatch, total: number): string {
  const data = `${grouped(holdingData)} hold data`
  const amount = `${grouped(counts.sessions)} sessions and ${grouped(counts.events)} events.`
  if (subjects === total) {
    return `${grouped(holdingData)} of ${grouped(total)} subjects hold data: ${amount} Nothing was erased.`
  }
  const lookedAt = `Of ${grouped(total)} subjects ${grouped(subjects)} were looked at, spread over the list`
  return `${lookedAt}: ${data}, ${amount} The others were not looked at. Nothing was erased.`
}

/** `null` for a data subject that holds nothing. */
async function countsOf(client: LetheClient, tracker: string, id: string) {
  try {
    return (await client.readSubject(tracker, id)).counts
  } catch (error) {
    if (isRefusal(error, 'not_found')) return null
    throw error
  }
}

/** The position of one of `count` in a list of `length`, the first and the last of both being the same. */
function spread(number: number, count: number, length: number): number {
  return count === 1 ? 0 : Math.round((number * (length - 1)) / (count - 1))
}

const chunkBytes = 256 * 1024

/**
 * The ids in a file, one a line, `-` for standard input; empty lines are passed over, spaces are part of an id. A line that can be no
 * id is an error: before something that cannot be undone, a damaged list is not guessed at.
 */
async function readIdList(file: string): Promise<string[]> {
  const name = file === '-' ? 'standard input' : file
  const ids: string[] = []
  let number = 0
  const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes })
  try {
    for await (const lines of splitLines(source)) {
      for (const line of lines) {
        number += 1
        const id = typeof line === 'string' ? line.replace(/\r$/, '') : null
        if (id === '') continue
        if (!isIdentifier(id)) throw new BadIdList(`${name}:${number}: an id is ${identifierRule}.`)
        ids.push(id)
      }
    }
  } catch (error) {
    if (error instanceof BadIdList) throw error
    throw new Error(`Cannot read ${name}: ${readFailure(error)}.`, { cause: error })
  }
  if (ids.length === 0) throw new BadIdList(`There are no ids in ${name}.`)
  return [...new Set(ids)]
}

/** A list that will not do. */
class BadIdList extends Error {
  override name = 'BadIdList'
}
