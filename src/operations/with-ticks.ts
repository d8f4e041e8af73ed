/** The items as they come, and `null` whenever a tick passes in between: whoever reads them can do what is due while none comes. */
export async function* withTicks<Item>(
  items: AsyncIterable<Item>,
  everyMs: number,
): AsyncGenerator<Item | null> {
  const iterator = items[Symbol.asyncIterator]()
  let next = iterator.next()
  let timer: NodeJS.Timeout | undefined
  let tick = nextTick()

  function nextTick(): Promise<null> {
    const { promise, resolve } = Promise.withResolvers<null>()
    timer = setTimeout(() => resolve(null), everyMs)
    return promise
  }

  try {
    for (;;) {
      const result = await Promise.race([next, tick])
      if (result === null) {
        tick = nextTick()
        yield null
      } else if (result.done) {
        return
      } else {
        yield result.value
        next = iterator.next()
      }
    }
  } finally {
    clearTimeout(timer)
    // Not waited for: it stands behind a `next` that may never come.
    iterator.return?.().catch(() => {})
  }
}
