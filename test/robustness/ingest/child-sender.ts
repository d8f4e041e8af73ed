// Tracks events of one subject until SIGTERM, and prints how many were acknowledged.
import { setTimeout as delay } from 'node:timers/promises'
import { LetheClient } from '@lethe/client'

const { LETHE_URL: url = '', LETHE_API_KEY: apiKey = '', SUBJECT: subjectId = '' } = process.env
const client = new LetheClient({ url, apiKey, timeoutMs: 5_000 })
// Errors are expected: the service is killed repeatedly.
const sender = client.sender('shop', { onError() {}, flushSeconds: 0.02, maxBatchLines: 50 })
let tracked = 0
let isStopped = false
process.on('SIGTERM', () => {
  isStopped = true
})

while (!isStopped) {
  for (let i = 0; i < 20; i++) {
    sender.track({ subjectId, sessionId: 's1', eventId: `${tracked}`, name: 'tracked' })
    tracked += 1
  }
  const before = tracked
  if (await sender.flush({ timeoutMs: 300 })) console.log(before)
  await delay(5)
}
console.log((await sender.close({ timeoutMs: 60_000 })) ? tracked : 'lost')
