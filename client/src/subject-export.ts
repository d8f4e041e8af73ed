import type { Event, EventList, Session, SessionList, Subject } from './api.ts'
import type { Listing } from './listing.ts'

/** Whose an entry is. */
interface Owner {
  trackerId: string
  subjectId: string
}

/**
 * One piece of an export: the record first, then all sessions, then all events, both newest first. Each names its owner, so
 * that `lethe import` takes them as they are.
 */
export type ExportEntry =
  | ({ type: 'subject' } & Subject)
  | ({ type: 'session' } & Owner & Session)
  | ({ type: 'event' } & Owner & Event)

interface ExportDeps {
  owner: Owner
  readSubject(): Promise<Subject>
  sessions: Listing<Session, SessionList>
  events: Listing<Event, EventList>
}

/**
 * All that is stored about a data subject, read while it is consumed: `for await` gives its entries, `ndjson()` and
 * `json()` give it as text, in pieces. Whatever goes wrong on the way is thrown, so a copy that ends without an error is complete.
 */
export class SubjectExport implements AsyncIterable<ExportEntry> {
  readonly #deps: ExportDeps

  constructor(deps: ExportDeps) {
    this.#deps = deps
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExportEntry, void, undefined> {
    const { owner, readSubject, sessions, events } = this.#deps
    yield { type: 'subject', ...(await readSubject()) }
    for await (const session of sessions) yield { type: 'session', ...owner, ...session }
    for await (const event of events) yield { type: 'event', ...owner, ...event }
  }

  /** One JSON object a line, each with its `type` and whose it is: the lines that `lethe import` reads. */
  async *ndjson(): AsyncGenerator<string, void, undefined> {
    const { owner, readSubject, sessions, events } = this.#deps
    yield lines({ type: 'subject' }, [await readSubject()])
    for await (const page of sessions.pages()) yield lines({ type: 'session', ...owner }, page.sessions)
    for await (const page of events.pages()) yield lines({ type: 'event', ...owner }, page.events)
  }

  /** One JSON object: `{subject, sessions, events}`. */
  async *json(): AsyncGenerator<string, void, undefined> {
    const { readSubject, sessions, events } = this.#deps
    yield `{"subject":${JSON.stringify(await readSubject())},\n"sessions":[`
    yield* commaSeparated(sessions.pages(), (page) => page.sessions)
    yield '],\n"events":['
    yield* commaSeparated(events.pages(), (page) => page.events)
    yield ']}\n'
  }
}

function lines(first: object, items: readonly object[]): string {
  return items.map((item) => `${JSON.stringify({ ...first, ...item })}\n`).join('')
}

async function* commaSeparated<Page>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly object[],
): AsyncGenerator<string, void, undefined> {
  let separator = '\n'
  for await (const page of pages) {
    const items = itemsOf(page).map((item) => JSON.stringify(item))
    if (items.length > 0) yield separator + items.join(',\n')
    separator = ',\n'
  }
}
