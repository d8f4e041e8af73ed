import { Worker } from 'node:worker_threads'
import { threadScript } from '../../runtime/program-files.ts'
import type { StartAnswering } from './writer.ts'
import type { Reply, Report } from './writer-messages.ts'

/** Writes in a thread of their own, away from the event loop that answers requests. */
export const writeInThread: StartAnswering = (path, on) => {
  const { script, ...how } = threadScript('src/storage/sqlite/writer-thread.ts')
  const worker = new Worker(script, {
    ...how,
    workerData: path,
    // The rows of a batch outlive the young generation anyway; a large one would only let memory grow.
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
