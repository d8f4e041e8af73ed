/** Longer than a healthy store ever takes, shorter than whoever asks will wait. */
const storeTimeoutMs = 2_000

/** What a store answers; rejects when it has not answered in time. */
export async function askStore<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`The store has not answered for ${storeTimeoutMs} ms.`)),
    storeTimeoutMs,
  )
  try {
    return await Promise.race([ask(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
