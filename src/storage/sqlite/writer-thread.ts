import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type Message, messageHandler } from './message-handler.ts'

// The thread that does all writes of a service, one call after the other, apart from the event loop that
// serves requests.
const port = parentPort
if (!port) throw new Error('writer-thread.ts runs as a worker thread')
const handle = messageHandler(workerData, {
  post: (message) => port.postMessage(message),
  onClosed: () => port.close(),
})

port.on('message', (first: Message) => {
  const messages = [first, ...drain(port)]
  handle(messages)
  // A batch of an import leaves much garbage, which is collected before the next one arrives.
  if (messages.flat().some((message) => message !== 'close' && message.name === 'ingest')) {
    setImmediate(() => globalThis.gc?.())
  }
})

/** The messages that arrived while the thread was busy. */
function* drain(port: MessagePort): Generator<Message> {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) yield next.message
}
