import { createReadStream } from 'node:fs'
import { type EraseManyOutcome, type EraseManyProgress, isIdentifier, type LetheClient } from '@lethe/client'
import { identifierRule } from '../../domain/identifier.ts'
import { readFailure, splitLines } from '../../domain/split-lines.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted, countsInWords, grouped, legible, Progress, shareOf, workProgress } from '../progress.ts'
import { onStopSignal } from '../until-stopped.ts'
import { confirmCount, restTeller } from './requests-erase.ts'
import { isRefusal } from './with-client.ts'

const drawEveryMs = 250
const tellEveryMs = 600_000

export interface EraseManyFlags {
  fromFile?: string
  reference: string
  /** `false` with `--no-wait`. */
  wait: boolean
  yes?: true
  dryRun?: true
  json?: true
}

interface Failure {
  subjectId: string
  code: string
  message: string
  requestId: string | null
}

/** Erases the data subjects listed in a file, each with a request, and always prints a summary. */
export async function eraseMany(
  kit: CommandKit,
  client: LetheClient,
  trackerId: string,
  { fromFile = '-', reference, wait, yes, dryRun, json }: EraseManyFlags,
): Promise<void> {
  const { terminal, fail, summarise } = kit
  const ids = await readIdList(fromFile)
  if (dryRun) {
    const checked = await checkBatch(client, trackerId, ids)
    if (json) summarise({ subjects: ids.length, checked, dryRun })
    else terminal.print(checkInWords(checked, ids.length))
    return
  }
  if (!yes) await confirmCount(terminal, ids.length)
  const stop = new AbortController()
  const stopping = onStopSignal({ onFirst: (signal) => stop.abort(stoppedBy(signal)) })
  let progress: EraseManyProgress | null = null
  const shown = new Progress(terminal, Date.now, { view: batchProgress(() => progress), tellEveryMs })
  const ticking = setInterval(() => shown.tick(), drawEveryMs)
  const tellRest = restTeller(terminal)
  const failures: Failure[] = []
  try {
    const people = ids.map((subjectId) => ({ subjects: [{ trackerId, subjectId }] }))
    const outcomes = client.requests.eraseMany(people, {
      reference,
      isAwaited: wait,
      signal: stop.signal,
      onProgress(now) {
        progress = now
        tellRest(now.resumesAt)
      },
    })
    for await (const outcome of outcomes) {
      const failure = failureOf(outcome)
      if (failure === null) continue
      failures.push(failure)
      terminal.tell(`${legible(failure.subjectId)}: ${failure.message}`)
    }
  } finally {
    clearInterval(ticking)
    shown.end()
    stopping.release()
    if (progress !== null) {
      if (json) summarise({ reference, ...toJson(progress), failures, dryRun: false })
      else terminal.print(summaryInWords(progress))
    }
  }
  if (failures.length > 0) fail()
}

function failureOf(outcome: EraseManyOutcome): Failure | null {
  const subjectId = outcome.person.subjects?.[0]?.subjectId ?? ''
  if (outcome.status === 'failed') {
    const { code, details, requestId } = outcome.error
    return { subjectId, code, message: details.map(({ message }) => message).join('; '), requestId }
  }
  const { state, requestId } = outcome.request
  if (state !== 'rejected' && state !== 'cancelled') return null
  return { subjectId, code: state, message: `The request ${requestId} was ${state}.`, requestId: null }
}

/** The rate is that of this run. */
function batchProgress(progress: () => EraseManyProgress | null) {
  return workProgress(() => {
    const { total = 0, started = 0, done = 0, doneBefore = 0, stopped = 0, failed = 0 } = progress() ?? {}
    const step = started + failed < total ? 'Starting' : 'Erasing'
    return {
      step,
      unit: 'subjects',
      count: done - doneBefore,
      share: shareOf(done + stopped + failed, total),
    }
  })
}

function summaryInWords(progress: EraseManyProgress): string {
  const { total, started, done, doneBefore, stopped, failed, erased } = progress
  const running = started - done - stopped
  const parts = [
    `Erased ${grouped(erased.subjects)} of ${counted(total, 'subject')}: ${countsInWords(erased)}.`,
    done > erased.subjects &&
      `${grouped(done - erased.subjects)} had no data: already erased, expired, or never seen.`,
    doneBefore > 0 && `${grouped(doneBefore)} of the requests were done by an earlier run.`,
    stopped + failed > 0 && `${grouped(stopped + failed)} failed.`,
    running > 0 && `The service continues with ${grouped(running)}.`,
    started + failed < total && `${grouped(total - started - failed)} remain.`,
  ]
  return parts.filter((part) => part !== false).join(' ')
}

function toJson({ total, erased, resumesAt: _, ...rest }: EraseManyProgress): object {
  const { sessions, events } = erased
  return { subjects: total, ...rest, erased: erased.subjects, sessions, events }
}

function stoppedBy(signal: NodeJS.Signals): Error {
  return new Error(
    `Stopped by ${signal} before the end. The service continues with what was started. Run it again to continue.`,
  )
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
