import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { commands } from './commands.ts'
import { isDiskFailure, openWriter } from './connection.ts'
import { LogTruncation } from './write-ahead-log.ts'
import type { Call, Erasing, Message, Reply, Report } from './writer-messages.ts'

// The thread that does all of a process's writing, one call after the other, away from the event loop that answers requests.
const port = parentPort
if (!port) throw new Error('writer-thread.ts runs as a worker thread')
const db = openWriter(workerData)
const run = commands(db)
const report = (message: Report) => port.postMessage(message)
const log = new LogTruncation(db, { onHeld: (logHeldMs) => report({ logHeldMs }) })

port.on('message', (first: Message) => {
  const messages = [first, ...alsoThere(port)].flat()
  const erasing = messages.filter(isErasing)
  if (erasing.length > 0) eraseTogether(erasing, (replies) => port.postMessage(replies))
  for (const message of messages) {
    if (message === 'close') {
      log.end(() => {
        db.close()
        port.close()
      })
    } else if (!isErasing(message)) {
      answerCall(message, (reply) => port.postMessage([reply]))
      // Each batch of an import leaves much garbage behind, and an import lets it be collected before the next one comes.
      if (message.name === 'ingest') setImmediate(() => globalThis.gc?.())
    }
  }
})

/** What else has come while the thread was at work. */
function* alsoThere(port: MessagePort): Generator<Message> {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) yield next.message
}

function isErasing(message: Call | 'close'): message is Erasing {
  return message !== 'close' && message.name === 'eraseSubjects'
}

/**
 * Erasures that waited together share a transaction and the emptying of the log, which cost far more than a small one itself. The log
 * is emptied also when nothing was there any more: an erasure that was cut off after its commit has left its pages in it.
 */
function eraseTogether(calls: readonly Erasing[], post: (replies: Reply[]) => void): void {
  const outcomes = run.eraseSubjects(calls.flatMap(({ args: [erasures] }) => erasures))
  const hasErased = outcomes.some((outcome) => outcome !== null && !(outcome instanceof Error))
  if (outcomes.some(isDiskFailure)) report({ hasDiskFailed: true })
  function answerAll(error?: unknown): void {
    post(
      calls.map(({ id, args }) =>
        error === undefined ? { id, result: outcomes.splice(0, args[0].length) } : failed(id, error),
      ),
    )
  }
  if (hasErased) log.request(answerAll)
  else answerAll()
}

/** Whoever has deleted something for good hears of it when the log is empty too, as of an erasure. */
function answerCall(call: Call, post: (reply: Reply) => void): void {
  const reply = answer(call)
  if (!hasDeleted(call, reply)) post(reply)
  else log.request((error) => post(error === undefined ? reply : failed(call.id, error)))
}

/** The last step of a removal empties the log for all of them. */
function hasDeleted({ name }: Call, { result }: Reply): boolean {
  if (name === 'deleteOrganisation') return result === true
  if (typeof result !== 'object' || result === null) return false
  if (name === 'removeRefused') return 'events' in result && result.events !== 0
  return name === 'removeTracker' && 'isDone' in result && result.isDone === true
}

function answer({ id, name, args }: Call): Reply {
  try {
    // The caller's types tie the arguments to the name; across the thread boundary TypeScript cannot follow.
    const command: (...args: never[]) => unknown = run[name]
    return { id, result: command(...(args as never[])) }
  } catch (error) {
    // A backup may be written to another disk.
    if (name !== 'backup' && isDiskFailure(error)) report({ hasDiskFailed: true })
    return failed(id, error)
  }
}

function failed(id: number, error: unknown): Reply {
  return { id, error: error instanceof Error ? error : new Error(String(error)) }
}
