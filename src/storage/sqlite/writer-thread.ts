import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type Message, messageHandler } from './message-handler.ts'

// The thread that does all of a service's writing, one call after the other, away from the event loop that answers requests.
const port = parentPort
if (!port) throw new Error('writer-thread.ts runs as a worker thread')
const handle = messageHandler(workerData, {
  post: (message) => port.postMessage(message),
  onClosed: () => port.close(),
})

port.on('message', (first: Message) => {
  const messages = [first, ...alsoThere(port)]
  handle(messages)
  // Each batch of an import leaves much garbage behind, and an import lets it be collected before the next one comes.
  if (messages.flat().some((message) => message !== 'close' && message.name === 'ingest')) {
    setImmediate(() => globalThis.gc?.())
  }
})

/** What else has come while the thread was at work. */
function* alsoThere(port: MessagePort): Generator<Message> {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) yield next.message
}
