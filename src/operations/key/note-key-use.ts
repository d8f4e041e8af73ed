import type { ApiKeyStore } from '../../domain/api-key.ts'
import type { Clock, Instant } from '../../domain/instant.ts'

const flushEveryMs = 5_000

/** Remembers when keys were last used and tells the store every few seconds, so that a request never waits for that write. */
export function keyUse(
  { apiKeys, clock }: { apiKeys: ApiKeyStore; clock: Clock },
  onError: (error: unknown) => void,
): { note(keyId: string): void; stop(): Promise<void> } {
  let noted = new Map<string, Instant>()
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    if (noted.size === 0) return
    const lastUsed = noted
    noted = new Map()
    await apiKeys.touch(lastUsed).catch(onError)
  }

  return {
    note(keyId) {
      noted.set(keyId, clock())
      timer ??= setTimeout(flush, flushEveryMs).unref()
    },
    stop: flush,
  }
}
