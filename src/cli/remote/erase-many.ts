import {
  ApiError,
  type BatchOptions,
  type BatchOutcome,
  type BatchProgress,
  type ClientError,
  type Identifier,
  type LetheClient,
} from '@lethe/client'
import { fileJournal } from '@lethe/client/file-journal'
import type { CommandKit } from '../command-kit.ts'
import { counted, countsInWords } from '../counted.ts'
import { legible } from '../legible.ts'
import { onStopSignal } from '../on-stop-signal.ts'
import { duration, grouped, Progress, type ProgressView } from '../progress.ts'
import { flagOrAnswer } from '../questions.ts'
import type { Terminal } from '../terminal.ts'
import { checkBatch, checkInWords } from './check-batch.ts'
import { readIdList } from './id-list.ts'
import { notConfirmed } from './with-client.ts'

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
