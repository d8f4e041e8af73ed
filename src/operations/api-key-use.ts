import { type ApiKeyStore, type KeyDay, readKeyId } from '../domain/api-key.ts'
import { dayOf } from '../domain/daily-total.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { authenticateKey } from './api-key.ts'

const flushEveryMs = 5_000
/** Bounds memory and load, because anyone can send invented strings. */
const maxStrings = 100

export interface KeyUse {
  /** Records a request with this key. */
  note(keyId: string): void
  /** Records that a scope or a budget refused the request. */
  noteRefusal(keyId: string): void
  /** Records a request that the budget of its address refused before its key was authenticated. */
  noteRefusedString(keyString: string): void
  stop(): Promise<void>
}

/** Writes the usage of keys every few seconds, so that requests do not wait. Repeats failed writes. */
export function keyUse(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  onError: (error: unknown) => void,
): KeyUse {
  let noted = new Map<string, Instant>()
  let days = new Map<string, KeyDay>()
  let strings = new Map<string, { day: number; count: number }>()
  let timer: NodeJS.Timeout | null = null
  let isStopped = false

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    await addRefused()
    if (noted.size === 0 && days.size === 0) return
    const [lastUsed, counted] = [noted, days]
    noted = new Map()
    days = new Map()
    try {
      await apiKeys.touch(lastUsed, [...counted.values()])
    } catch (error) {
      for (const [keyId, at] of lastUsed) noted.set(keyId, noted.get(keyId) ?? at)
      for (const day of counted.values()) add(day)
      later()
      onError(error)
    }
  }

  /** Counts the strings that turn out to be keys. */
  async function addRefused(): Promise<void> {
    const refused = strings
    strings = new Map()
    for (const [keyString, { day, count }] of refused) {
      try {
        const caller = await authenticateKey({ apiKeys, clock }, keyString)
        if (caller) add({ keyId: caller.key.id, day, requests: count, refusals: count })
      } catch (error) {
        onError(error)
      }
    }
  }

  function later(): void {
    if (!isStopped) timer ??= setTimeout(flush, flushEveryMs).unref()
  }

  function add({ keyId, day, requests, refusals }: KeyDay): void {
    const name = `${day} ${keyId}`
    const known = days.get(name)
    if (known) {
      known.requests += requests
      known.refusals += refusals
    } else days.set(name, { keyId, day, requests, refusals })
  }

  return {
    note(keyId) {
      const now = clock()
      noted.set(keyId, now)
      add({ keyId, day: dayOf(now), requests: 1, refusals: 0 })
      later()
    },
    noteRefusal: (keyId) => add({ keyId, day: dayOf(clock()), requests: 0, refusals: 1 }),
    noteRefusedString(keyString) {
      const known = strings.get(keyString)
      if (known) known.count += 1
      else if (strings.size < maxStrings && readKeyId(keyString) !== null)
        strings.set(keyString, { day: dayOf(clock()), count: 1 })
      later()
    },
    stop() {
      isStopped = true
      return flush()
    },
  }
}
