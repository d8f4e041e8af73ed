import { messageHandler } from './message-handler.ts'
import type { StartAnswering } from './writer.ts'

/**
 * Writes in the thread that asks, and answers nobody meanwhile: for commands, most of which are over before another thread would have
 * started. Replies come in another turn of the event loop, so that between two writes signals are heard and progress is drawn.
 */
export const writeHere: StartAnswering = (path, on) => {
  const handle = messageHandler(path, {
    post: (message) => setImmediate(on.message, message),
    onClosed: () => setImmediate(on.end, new Error('The store is closed.')),
  })
  return { post: (message) => handle([message]) }
}
