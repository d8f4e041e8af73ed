import { type CommandParser, defineScript } from '@redis/client'
import type { Instant } from '../domain/instant.ts'

/** A holder's window as Redis counts it, by its own clock. */
export interface SharedWindow {
  granted: boolean
  count: number
  resetsAt: Instant
  countedAt: Instant
}

/**
 * Takes one request out of a window, or refuses and writes nothing. A window is stored as its count and the instant it resets, under
 * one key that expires with it. A clock set back would stretch a window beyond its length: such a one starts anew.
 */
export const takeScript = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
local limit, length = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local count, resetsAt = 0, now + length
local stored = redis.call('GET', KEYS[1])
if stored then
  local storedCount, storedReset = string.match(stored, '^(%d+) (%d+)$')
  storedReset = tonumber(storedReset)
  if storedReset and storedReset > now and storedReset <= now + length then
    count, resetsAt = tonumber(storedCount), storedReset
  end
end
if count >= limit then return { 0, count, resetsAt, now } end
count = count + 1
redis.call('SET', KEYS[1], string.format('%.0f %.0f', count, resetsAt), 'PX', resetsAt - now)
return { 1, count, resetsAt, now }`,
  parseCommand(parser: CommandParser, key: string, limit: number, windowMs: number) {
    parser.pushKey(key)
    parser.push(String(limit), String(windowMs))
  },
  transformReply(reply: unknown): SharedWindow {
    const [granted, count, resetsAt, countedAt] = Array.isArray(reply) ? reply : []
    if (!Number.isSafeInteger(count) || !Number.isSafeInteger(resetsAt) || !Number.isSafeInteger(countedAt)) {
      throw new Error('Redis answered something else than a window.')
    }
    return { granted: granted === 1, count, resetsAt, countedAt }
  },
})
