import { type Budget, exhaustedForMs } from './budget.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** A page with the state of the budgets. */
interface ReadPage<Page> {
  page: Page
  requestId: string
  budgets: readonly Budget[]
}

interface ListingDeps<Item, Page> {
  readPage(cursor: string | undefined): Promise<ReadPage<Page>>
  itemsOf(page: Page): Item[]
  cursor: string | undefined
  signal: AbortSignal | undefined
  runtime: Runtime
}

/**
 * A list of the service. `for await` yields its items, `pages()` its pages, and `page()` returns the first
 * page. Pages are requested when they are needed. If a budget is used up, the iteration waits until it
 * resets.
 */
export class Listing<Item, Page extends { nextCursor: string | null }> implements AsyncIterable<Item> {
  readonly #deps: ListingDeps<Item, Page>

  constructor(deps: ListingDeps<Item, Page>) {
    this.#deps = deps
  }

  async page(): Promise<Page> {
    return (await this.#deps.readPage(this.#deps.cursor)).page
  }

  async *pages(): AsyncGenerator<Page, void, undefined> {
    const { readPage, signal, runtime } = this.#deps
    let { cursor } = this.#deps
    for (;;) {
      const { page, requestId, budgets } = await readPage(cursor)
      yield page
      if (page.nextCursor === null) return
      if (page.nextCursor === cursor) {
        throw new UnexpectedAnswerError(
          200,
          'The next cursor of a page is the cursor of the page itself.',
          requestId,
        )
      }
      cursor = page.nextCursor
      const pauseMs = exhaustedForMs(budgets)
      if (pauseMs > 0) await runtime.wait(pauseMs, signal)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* this.#deps.itemsOf(page)
  }
}
