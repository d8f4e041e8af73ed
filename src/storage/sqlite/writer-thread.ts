import { parentPort, workerData } from 'node:worker_threads'
import { commands } from './commands.ts'
import { openWriter } from './connection.ts'
import type { Call, Reply } from './writer.ts'

// The thread that does all of a process's writing, one call after the other, away from the event loop that answers requests.
const port = parentPort
if (!port) throw new Error('writer-thread.ts runs as a worker thread')
const db = openWriter(workerData)
const run = commands(db)

port.on('message', (call: Call | 'close') => {
  if (call === 'close') {
    db.close()
    port.close()
    return
  }
  port.postMessage(answer(call))
  // Each batch of an import leaves much garbage behind, and an import lets it be collected before the next one comes.
  if (call.name === 'ingest') setImmediate(() => globalThis.gc?.())
})

function answer({ id, name, args }: Call): Reply {
  try {
    // The caller's types tie the arguments to the name; across the thread boundary TypeScript cannot follow.
    const command: (...args: never[]) => unknown = run[name]
    return { id, result: command(...(args as never[])) }
  } catch (error) {
    return { id, error: error instanceof Error ? error : new Error(String(error)) }
  }
}
