import { setImmediate } from 'node:timers/promises'
import { LetheClient, type LetheClientOptions, type Runtime } from '@lethe/client'
import type { Shop } from './shop.ts'

/** A client with the shop's key. */
export function clientOf(shop: Pick<Shop, 'url' | 'key'>, options: Partial<LetheClientOptions> = {}) {
  return new LetheClient({ url: shop.url, apiKey: shop.key, ...options })
}

/** All items, in order. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/**
 * A runtime in which waits take no time: they advance the client's clock, and any other through `passTime`.
 */
interface MovedTime extends Runtime {
  /** The length of each wait, in milliseconds. */
  waits: number[]
}

export function movedTime(passTime: (ms: number) => void = () => {}): MovedTime {
  let shift = 0
  const waits: number[] = []
  return {
    waits,
    now: () => Date.now() + shift,
    random: () => 0.5,
    async wait(ms, signal) {
      signal?.throwIfAborted()
      waits.push(ms)
      shift += ms
      passTime(ms)
    },
  }
}

/** The global `fetch`; records the method and status of each exchange, such as `GET 200`. */
export function recordingFetch(): { fetch: typeof fetch; exchanges: string[] } {
  const exchanges: string[] = []
  return {
    exchanges,
    async fetch(input, init) {
      const response = await fetch(input, init)
      exchanges.push(`${init?.method} ${response.status}`)
      return response
    },
  }
}

/** A runtime whose background waits end when the test calls `step`; other waits take no time. */
interface SteppedTime extends MovedTime {
  /** Ends the next background wait and returns its length in milliseconds. */
  step(): Promise<number>
}

export function steppedTime(): SteppedTime {
  const time = movedTime()
  const begun: { ms: number; end: () => void }[] = []
  const waiting: ((wait: (typeof begun)[number]) => void)[] = []
  return {
    ...time,
    async wait(ms, signal, { isBackground = false } = {}) {
      if (!isBackground) return await time.wait(ms, signal)
      await new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
        const wait = { ms, end: resolve }
        const next = waiting.shift()
        if (next) next(wait)
        else begun.push(wait)
      })
      await time.wait(ms, signal)
    },
    async step() {
      const wait =
        begun.shift() ?? (await new Promise<(typeof begun)[number]>((given) => waiting.push(given)))
      wait.end()
      return wait.ms
    },
  }
}

/** A runtime whose clock only the test advances. */
export interface VirtualTime extends Runtime {
  /** Advances the clock and ends the due waits in order. What one starts runs before the next ends. */
  pass(ms: number): Promise<void>
  /** The pending waits: the time left, and whether they are background waits. */
  waiting(): { ms: number; isBackground: boolean }[]
}

export function virtualTime(start = Date.now()): VirtualTime {
  let now = start
  let uuids = 0
  const waits = new Set<{ at: number; isBackground: boolean; end: () => void }>()
  return {
    now: () => now,
    random: () => 0.5,
    randomUUID: () => `00000000-0000-4000-8000-${String(++uuids).padStart(12, '0')}`,
    wait: (ms, signal, { isBackground = false } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (ms <= 0) return resolve()
        const wait = { at: now + ms, isBackground, end: resolve }
        waits.add(wait)
        signal?.addEventListener('abort', () => {
          waits.delete(wait)
          reject(signal.reason)
        })
      }),
    async pass(ms) {
      const end = now + ms
      for (;;) {
        const [next] = [...waits].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        now = Math.max(now, next.at)
        waits.delete(next)
        next.end()
        await setImmediate()
      }
      now = end
    },
    waiting: () => Array.from(waits, ({ at, isBackground }) => ({ ms: at - now, isBackground })),
  }
}
