import { type CommandParser, defineScript } from '@redis/client'
import type { Instant } from '../domain/instant.ts'

/** A bucket's window in Redis, by Redis's clock. */
export interface SharedWindow {
  granted: boolean
  count: number
  resetsAt: Instant
  countedAt: Instant
}

export interface TakeOrder {
  key: string
  limit: number
  windowMs: number
}

/**
 * Takes requests from their windows in order; a refusal writes nothing. A window is stored as its count and
 * reset time under a key that expires with it. A window that a clock change would extend is restarted.
 */
export const takeScript = defineScript({
  SCRIPT: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function take(key, limit, length)
  local count, resetsAt = 0, now + length
  local stored = redis.call('GET', key)
  if stored then
    local storedCount, storedReset = string.match(stored, '^(%d+) (%d+)$')
    storedReset = tonumber(storedReset)
    if storedReset and storedReset > now and storedReset <= now + length then
      count, resetsAt = tonumber(storedCount), storedReset
    end
  end
  if count >= limit then return { 0, count, resetsAt, now } end
  count = count + 1
  redis.call('SET', key, string.format('%.0f %.0f', count, resetsAt), 'PX', resetsAt - now)
  return { 1, count, resetsAt, now }
end
local windows = {}
for i, key in ipairs(KEYS) do windows[i] = take(key, tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])) end
return windows`,
  parseCommand(parser: CommandParser, orders: readonly TakeOrder[]) {
    parser.pushKeysLength(orders.map(({ key }) => key))
    for (const { limit, windowMs } of orders) parser.push(String(limit), String(windowMs))
  },
  transformReply(reply: unknown): SharedWindow[] {
    if (!Array.isArray(reply)) throw new Error('Redis did not return a list of windows.')
    return reply.map(toWindow)
  },
})

function toWindow(reply: unknown): SharedWindow {
  const [granted, count, resetsAt, countedAt] = Array.isArray(reply) ? reply : []
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(resetsAt) || !Number.isSafeInteger(countedAt)) {
    throw new Error('Redis did not return a valid window.')
  }
  return { granted: granted === 1, count, resetsAt, countedAt }
}
