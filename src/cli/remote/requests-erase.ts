import type { LetheClient, PrivacyRequest } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { counted, countsInWords, Progress, shareOf, workProgress } from '../progress.ts'
import { flagOrAnswer, type Terminal } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'
import { describeRequest, requestArgument } from './requests-read.ts'
import { notConfirmed, requestHint, withClient } from './with-client.ts'

const drawEveryMs = 250

export interface EraseRequestFlags {
  yes?: true
  /** `false` with `--no-wait`. */
  wait: boolean
  json?: true
}

export function addRequestsErase(requests: Command, kit: CommandKit): void {
  const { terminal, config } = kit
  requests
    .command('erase')
    .description('permanently erase everything that an erasure request finds, and close it')
    .addArgument(requestArgument())
    .option('--no-wait', 'start the erasure only; the service continues on its own')
    .option('--yes', 'confirm without a question')
    .option('--json', 'print one JSON object')
    .action((id: string, flags: EraseRequestFlags) => {
      const work = async (client: LetheClient) => {
        const request = await client.requests.get(id)
        if (request.state === 'open' && !flags.yes) {
          for (const line of describeRequest(request)) terminal.tell(line)
          await confirmCount(terminal, request.found.subjects)
        }
        const erased = await eraseRequest(terminal, client, request, flags)
        reportErasure(kit, erased, flags)
      }
      return withClient(config(), terminal, work, { reportsWaits: false, ...requestHint })
    })
}

export async function confirmCount(terminal: Terminal, count: number): Promise<void> {
  const question = `This cannot be undone. Type the number of data subjects, ${count}, to erase them: `
  const answer = await flagOrAnswer(terminal, undefined, '--yes', question)
  if (answer.trim() !== String(count)) throw notConfirmed()
}

/** Starts an erasure and waits until the service has finished it. A signal ends only the waiting. */
export async function eraseRequest(
  terminal: Terminal,
  { requests }: LetheClient,
  before: PrivacyRequest,
  { wait }: Pick<EraseRequestFlags, 'wait'>,
): Promise<PrivacyRequest> {
  if (before.state === 'done') return before
  const { requestId } = before
  let request = await requests.erase(requestId)
  if (!wait || request.state !== 'running') return request
  const stop = new AbortController()
  const stopping = onStopSignal({ onFirst: (signal) => stop.abort(stoppedBy(signal, requestId)) })
  const shown = new Progress(terminal, Date.now, { view: requestProgress(() => request) })
  const ticking = setInterval(() => shown.tick(), drawEveryMs)
  const tellRest = restTeller(terminal)
  try {
    return await requests.wait(requestId, {
      signal: stop.signal,
      onProgress(now) {
        request = now
        tellRest(now.resumesAt)
      },
    })
  } finally {
    clearInterval(ticking)
    shown.end()
    stopping.release()
  }
}

/** Tells once until when the service waits for the erasure budget. */
export function restTeller({ tell }: Terminal): (resumesAt: string | null) => void {
  let told: string | null = null
  return (resumesAt) => {
    if (resumesAt === null || resumesAt === told) return
    told = resumesAt
    tell(`The key's budget for erasures is used up. The service continues at ${resumesAt}.`)
  }
}

function stoppedBy(signal: NodeJS.Signals, requestId: string): Error {
  return new Error(
    `Stopped waiting by ${signal}. The service continues with the erasure; lethe requests show ${requestId} shows its progress.`,
  )
}

function requestProgress(request: () => PrivacyRequest) {
  return workProgress(() => {
    const { found, erased } = request()
    return { unit: 'subjects', count: erased.subjects, share: shareOf(erased.subjects, found.subjects) }
  })
}

/** Prints how an erasure ended. Exit code 1 if it did not, although it was awaited. */
function reportErasure(
  { terminal, fail }: CommandKit,
  request: PrivacyRequest,
  { wait, json }: Pick<EraseRequestFlags, 'wait' | 'json'>,
): void {
  terminal.print(json ? JSON.stringify(request) : erasureInWords(request))
  if (wait && request.state !== 'done') fail()
}

export function erasureInWords({ requestId, state, erased, left }: PrivacyRequest): string {
  if (state === 'running')
    return `The service erases the data. lethe requests show ${requestId} shows its progress.`
  const amount = `${counted(erased.subjects, 'subject')}: ${countsInWords(erased)}`
  if (state !== 'done') return `The request was ${state} meanwhile. Erased ${amount}.`
  if (left) return `Erased ${amount}. ${counted(left, 'subject')} came back meanwhile and remain.`
  return erased.subjects === 0
    ? `There was nothing to erase. lethe requests certificate ${requestId} shows what the ledger proves.`
    : `Erased ${amount}.`
}
