/** The items as they come, and `null` whenever a tick passes in between: whoever reads them can do what is due while none comes. */
export async function* withTicks<Item>(
  items: AsyncIterable<Item>,
  everyMs: number,
): AsyncGenerator<Item | null> {
  const iterator = items[Symbol.asyncIterator]()
  let wake = () => {}
  let arrived: Promise<IteratorResult<Item>> | null = null
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  /** Waits for each item once: what would wait for it anew with each tick could not be let go of before it comes. */
  function ask(): void {
    const next = iterator.next()
    const onArrived = () => {
      arrived = next
      wake()
    }
    next.then(onArrived, onArrived)
  }

  /** What has arrived. It is handed out once, and the next one asked for by whoever took it. */
  function take(): Promise<IteratorResult<Item>> | null {
    const taken = arrived
    arrived = null
    return taken
  }

  function tickLater(): void {
    isDue = false
    timer = setTimeout(() => {
      isDue = true
      wake()
    }, everyMs)
  }

  function somethingHappens(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    if (arrived !== null || isDue) resolve()
    return promise
  }

  try {
    ask()
    tickLater()
    for (;;) {
      await somethingHappens()
      const result = await take()
      if (result === null) {
        tickLater()
        yield null
      } else if (result.done) {
        return
      } else {
        yield result.value
        ask()
      }
    }
  } finally {
    clearTimeout(timer)
    // Not waited for: it stands behind a `next` that may never come.
    iterator.return?.().catch(() => {})
  }
}
