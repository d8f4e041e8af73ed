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
import { readFailure, splitLines } from '../../domain/split-lines.ts'
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
import { flagOrAnswer, type Terminal } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { isRefusal, notConfirmed } from './with-client.ts'

const drawEveryMs = 250
const tellEveryMs = 600_000

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

/** Erases the data subjects listed in a file. Shows the plan first, and always prints a summary. */
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
  if (!yes && plan.done < plan.total) await confirmCount(terminal, plan.total - plan.done)
  const stop = new AbortController()
  const stopping = onStopSignal({ onFirst: (signal) => stop.abort(stoppedBy(signal, path)) })
  try {
    const options = { ...pace, signal: stop.signal }
    await run(kit, plan, (more) => client.eraseSubjects(tracker, ids, { ...options, ...more }), json)
  } finally {
    stopping.release()
  }
}

export async function confirmCount(terminal: Terminal, count: number): Promise<void> {
  const question = `This cannot be undone. Type the number of data subjects, ${count}, to erase them: `
  const answer = await flagOrAnswer(terminal, undefined, '--yes', question)
  if (answer.trim() !== String(count)) throw notConfirmed()
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
  checkpointFile: string | null,
): string {
  if (done === total) return `All ${counted(total, 'subject')} are already done.`
  const earlier = done === 0 ? '' : `${grouped(done)} of ${grouped(total)} are already done; `
  const rate = `${grouped(perHour)} per hour`
  const pace = leftMs === 0 ? `at most ${rate}` : `about ${roughly(leftMs)} at ${rate}`
  const progress = checkpointFile === null ? 'without a checkpoint file' : `progress in ${checkpointFile}`
  return `${earlier}${counted(total - done, 'subject')}, ${pace}, ${progress}.`
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
    alreadyErased > 0 && `${grouped(alreadyErased)} had no data: already erased, expired, or never seen.`,
    unknown > 0 &&
      `${grouped(unknown)} have no data now; a response was lost, so it is unknown how much was deleted.`,
    failed > 0 && `${grouped(failed)} failed; run it again to retry them.`,
    total > done + failed && `${grouped(total - done - failed)} remain.`,
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

function stoppedBy(signal: NodeJS.Signals, checkpointFile: string | null): Error {
  const next =
    checkpointFile === null
      ? 'Without a checkpoint file, the next run starts from the beginning.'
      : 'Run it again to continue.'
  return new Error(`Stopped by ${signal} before the end. ${next}`)
}

/** A duration for people, rounded to its two largest units. */
function roughly(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return `${Math.ceil(ms / 1_000)} s`
  if (minutes < 60) return `${minutes} min`
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

/** How many data subjects a dry run reads at most. With the default budgets, it does not have to wait. */
const maxChecked = 50

/** What a dry run found. */
interface CheckedBatch {
  subjects: number
  holdingData: number
  sessions: number
  events: number
}

/** Reads the tracker and, spread over the list, up to `maxChecked` data subjects. Erases nothing. */
async function checkBatch(
  client: LetheClient,
  tracker: string,
  ids: readonly string[],
): Promise<CheckedBatch> {
  // A missing subject and a missing tracker give the same 404; only a list tells them apart.
  await client.listSubjects(tracker, { limit: 1 }).pages().next()
  const checked = { subjects: Math.min(ids.length, maxChecked), holdingData: 0, sessions: 0, events: 0 }
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
  const amount = `${countsInWords(counts)}. Nothing was erased.`
  if (subjects === total) return `${grouped(holdingData)} of ${grouped(total)} subjects have data: ${amount}`
  const checked = `Checked ${grouped(subjects)} of ${grouped(total)} subjects, spread over the list`
  return `${checked}: ${grouped(holdingData)} have data, ${amount}`
}

/** `null` for a data subject without data. */
async function countsOf(client: LetheClient, tracker: string, id: string) {
  try {
    return (await client.readSubject(tracker, id)).counts
  } catch (error) {
    if (isRefusal(error, 'not_found')) return null
    throw error
  }
}

/** Spreads `count` positions over a list of `length`, including the first and the last. */
function spread(number: number, count: number, length: number): number {
  return count === 1 ? 0 : Math.round((number * (length - 1)) / (count - 1))
}

const chunkBytes = 256 * 1024

/**
 * Reads IDs from a file, one per line; `-` is standard input. Empty lines are skipped; spaces are part of an
 * ID. An invalid line is an error, because an erasure cannot be undone.
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
        if (!isIdentifier(id)) throw new BadIdList(`${name}:${number}: an ID has ${identifierRule}.`)
        ids.push(id)
      }
    }
  } catch (error) {
    if (error instanceof BadIdList) throw error
    throw new Error(`Cannot read ${name}: ${readFailure(error)}.`, { cause: error })
  }
  if (ids.length === 0) throw new BadIdList(`${name} contains no IDs.`)
  return [...new Set(ids)]
}

class BadIdList extends Error {
  override name = 'BadIdList'
}
