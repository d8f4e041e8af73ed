import type { Clock, Instant } from '../domain/instant.ts'
import type { VariableTokenStore } from '../domain/variable-token.ts'

const flushEveryMs = 5_000

interface TokenUse {
  /** Records a request with this token. */
  note(tokenId: string): void
  stop(): Promise<void>
}

/** Every few seconds, writes when tokens were last used, so that requests do not wait. Retries on failure. */
export function tokenUse(
  { variableTokens, clock }: { variableTokens: VariableTokenStore; clock: Clock },
  onError: (error: unknown) => void,
): TokenUse {
  let noted = new Map<string, Instant>()
  let timer: NodeJS.Timeout | null = null
  let isStopped = false

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    if (noted.size === 0) return
    const lastUsed = noted
    noted = new Map()
    try {
      await variableTokens.touch(lastUsed)
    } catch (error) {
      for (const [id, at] of lastUsed) noted.set(id, noted.get(id) ?? at)
      later()
      onError(error)
    }
  }

  function later(): void {
    if (!isStopped) timer ??= setTimeout(flush, flushEveryMs).unref()
  }

  return {
    note(tokenId) {
      noted.set(tokenId, clock())
      later()
    },
    stop() {
      isStopped = true
      return flush()
    },
  }
}
