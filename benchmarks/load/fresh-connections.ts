import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const pauseMs = 20

/**
 * Opens one new connection after the other until `busy` ends; returns the longest time in ms until `/healthz`
 * was answered.
 */
export async function worstFreshConnection(url: string, busy: Promise<unknown>): Promise<number> {
  let isOver = false
  const end = busy.finally(() => {
    isOver = true
  })
  let worstMs = 0
  while (!isOver) {
    worstMs = Math.max(worstMs, await healthMs(url))
    await delay(pauseMs)
  }
  await end
  return worstMs
}

function healthMs(url: string): Promise<number> {
  const from = performance.now()
  return new Promise((resolve, reject) => {
    // Without an agent, each request has its own connection.
    get(`${url}/healthz`, { agent: false }, (response) => {
      response.resume().on('end', () => resolve(performance.now() - from))
    }).on('error', reject)
  })
}
