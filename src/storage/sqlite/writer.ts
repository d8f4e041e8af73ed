import { Worker } from 'node:worker_threads'
import { tooBusy } from '../../domain/errors.ts'
import { threadScript } from '../../runtime/program-files.ts'
import type { ArgumentsOf, ResultOf } from '../nouns/engine.ts'
import type { SharedTransactions, TransactionName } from '../nouns/transactions.ts'
import type { CommandRunner } from './connections.ts'
import {
  type Call,
  type CommandName,
  type Commands,
  type Message,
  messageHandler,
  type Reply,
  type Report,
} from './message-handler.ts'

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Where calls are handled: in a thread, or in the calling thread. */
interface WriterBackend {
  /** Buffers in `moved` are transferred to the thread instead of copied, and must not be used afterwards. */
  post(message: Message, moved: readonly ArrayBuffer[]): void
}

/** Starts to handle calls for the store at `path`. `on.end` is called when it ends for any reason. */
type StartWriterBackend = (
  path: string,
  on: { message(message: Reply[] | Report): void; end(cause: Error): void },
) => WriterBackend

/**
 * How many writes may wait: a queue of this length takes a second or two, unless it contains a very large
 * write.
 */
export const maxWaiting = 1_000

/**
 * Sends writes to the backend that `start` starts on the first write. If it ends by itself, the next write
 * starts another.
 */
export class Writer implements CommandRunner<Commands> {
  readonly #path: string
  readonly #start: StartWriterBackend
  readonly #onLogWanted: (isWanted: boolean) => void
  readonly #waiting = new Map<number, Waiting>()
  readonly #calls: Call[] = []
  #backend: WriterBackend | null = null
  #lastId = 0
  #closing: Promise<void> | null = null
  #onEnd = () => {}
  #logHeldSince: number | null = null
  #hasDiskFailed = false
  #trial: Promise<void> | null = null

  /** `onLogWanted` is called when readers should release the log, and when that is over. */
  constructor(path: string, start: StartWriterBackend, onLogWanted: (isWanted: boolean) => void = () => {}) {
    this.#path = path
    this.#start = start
    this.#onLogWanted = onLogWanted
  }

  /** Calls made at the same time are sent as one message, which costs little more than a single one. */
  run<Name extends keyof Commands>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>> {
    return this.#queue(name, args)
  }

  transact<Name extends TransactionName>(
    name: Name,
    ...args: ArgumentsOf<SharedTransactions[Name]>
  ): Promise<ResultOf<SharedTransactions[Name]>> {
    return this.#queue(name, args)
  }

  runMoving<Name extends keyof Commands>(
    moved: readonly ArrayBuffer[],
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>> {
    return this.#await((id) => {
      this.#postCalls()
      this.#post([{ id, name, args }], moved)
    })
  }

  #queue<Result>(name: CommandName, args: unknown[]): Promise<Result> {
    return this.#await((id) => {
      if (this.#calls.push({ id, name, args }) === 1) queueMicrotask(() => this.#postCalls())
    })
  }

  /** The caller's types tie the result to the command; TypeScript cannot follow them across messages. */
  #await<Result>(send: (id: number) => void): Promise<Result> {
    if (this.#closing) return Promise.reject(new Error('The store is closed.'))
    if (this.#waiting.size >= maxWaiting) return Promise.reject(tooBusy())
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const id = ++this.#lastId
    this.#waiting.set(id, {
      resolve: (result) => resolve(result as Result),
      reject,
    })
    send(id)
    return promise
  }

  #postCalls(): void {
    const calls = this.#calls.splice(0)
    if (calls.length > 0) this.#post(calls)
  }

  #post(calls: Call[], moved: readonly ArrayBuffer[] = []): void {
    try {
      this.#backend ??= this.#startBackend()
      this.#backend.post(calls, moved)
    } catch (error) {
      // A call that cannot be cloned was never sent, so no reply will come. Others are sent separately.
      const [call, ...others] = calls
      if (others.length > 0) for (const each of calls) this.#post([each])
      else if (call)
        this.#settle({ id: call.id, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  /** Rejects if a write has failed because of the disk, and a test write fails now. */
  async requireWritable(): Promise<void> {
    if (!this.#hasDiskFailed) return
    this.#trial ??= this.run('tryToWrite').finally(() => {
      this.#trial = null
    })
    await this.#trial
    this.#hasDiskFailed = false
  }

  /** How long others have kept the log from being emptied beyond the timeout of an erasure; otherwise 0. */
  logHeldMs(): number {
    return this.#logHeldSince === null ? 0 : performance.now() - this.#logHeldSince
  }

  /** Waits for pending writes, then ends the backend. Later writes are refused. */
  close(): Promise<void> {
    this.#closing ??= this.#endBackend()
    return this.#closing
  }

  #startBackend(): WriterBackend {
    return this.#start(this.#path, {
      message: (message) => {
        if (Array.isArray(message)) for (const reply of message) this.#settle(reply)
        else this.#note(message)
      },
      end: (cause) => {
        this.#backend = null
        this.#logHeldSince = null
        this.#onLogWanted(false)
        for (const waiting of this.#waiting.values()) waiting.reject(cause)
        this.#waiting.clear()
        this.#onEnd()
      },
    })
  }

  async #endBackend(): Promise<void> {
    this.#postCalls()
    if (!this.#backend) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onEnd = resolve
    this.#backend.post('close', [])
    await promise
  }

  #settle({ id, result, error }: Reply): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) waiting?.reject(error)
    else waiting?.resolve(result)
  }

  #note(report: Report): void {
    if ('hasDiskFailed' in report) this.#hasDiskFailed = true
    else if ('isLogWanted' in report) this.#onLogWanted(report.isLogWanted)
    else this.#logHeldSince = report.logHeldMs === null ? null : performance.now() - report.logHeldMs
  }
}

/**
 * Writes in the calling thread, for commands, most of which end before another thread would have started.
 * Replies arrive in another turn of the event loop, so that signals and progress are handled between two
 * writes.
 */
export const writeHere: StartWriterBackend = (path, on) => {
  const handle = messageHandler(path, {
    post: (message) => setImmediate(on.message, message),
    onClosed: () => setImmediate(on.end, new Error('The store is closed.')),
  })
  return { post: (message) => handle([message]) }
}

/** Writes in a separate thread, apart from the event loop that serves requests. */
export const writeInThread: StartWriterBackend = (path, on) => {
  const { script, ...how } = threadScript('src/storage/sqlite/writer-thread.ts')
  const worker = new Worker(script, {
    ...how,
    workerData: path,
    // The rows of a batch outlive the young generation anyway; a large one would only use more memory.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  })
  let cause = new Error('The writer thread ended.')
  worker.on('message', (message: Reply[] | Report) => on.message(message))
  worker.on('error', (error) => {
    cause = error instanceof Error ? error : cause
  })
  worker.on('exit', () => on.end(cause))
  return { post: (message, moved) => worker.postMessage(message, moved) }
}
