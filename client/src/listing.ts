import { type Budget, exhaustedForMs } from './budget.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** A page as the service answered it, with what is left of its budgets. */
export interface ReadPage<Page> {
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
 * A list of the service. `for await` over it gives one item after the other; `pages()` gives page after page, and `page()` the first
 * one alone. Nothing is sent before that, and no page before it is wanted. When a budget is used up, the walk waits until it is full.
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
        throw new UnexpectedAnswerError(200, 'A page names itself as the next one.', requestId)
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
