import { type Event, isEvent, isMeta, isSession, isSubject, type Session, type Subject } from './api.ts'
import { ConnectionError, UnexpectedAnswerError } from './errors.ts'
import { splitExport } from './split-export.ts'

/** Whose an entry is. */
interface Owner {
  trackerId: string
  subjectId: string
}

/**
 * One piece of an export: the record first, then all sessions, then all events, both oldest first. Each names its owner, so
 * that `lethe import` takes them as they are.
 */
export type ExportEntry =
  | ({ type: 'subject' } & Subject)
  | ({ type: 'session' } & Owner & Session)
  | ({ type: 'event' } & Owner & Event)

interface ExportDeps {
  owner: Owner
  requestId: string | null
  /** Sends the request, and hands back the answer as it comes. */
  open(): Promise<AsyncIterable<string>>
}

/** How much text is handed on in one piece, at least. */
const pieceLength = 65_536

/**
 * All that is stored about a data subject at one moment, in one request, read while it is consumed: `for await` gives its entries,
 * `ndjson()` and `json()` give it as text, in pieces. Whatever goes wrong on the way is thrown, so a copy that ends without an error is
 * complete.
 */
export class SubjectExport implements AsyncIterable<ExportEntry> {
  readonly #deps: ExportDeps

  constructor(deps: ExportDeps) {
    this.#deps = deps
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExportEntry, void, undefined> {
    const { owner } = this.#deps
    for await (const { kind, value } of this.#parts()) {
      if (kind === 'subject') yield { type: 'subject', ...this.#as(isSubject, value) }
      else if (kind === 'session') yield { type: 'session', ...owner, ...this.#as(isSession, parse(value)) }
      else yield { type: 'event', ...owner, ...this.#as(isEvent, parse(value)) }
    }
  }

  /** One JSON object a line, each with its `type` and whose it is: the lines that `lethe import` reads. */
  async *ndjson(): AsyncGenerator<string, void, undefined> {
    const owner = JSON.stringify(this.#deps.owner).slice(1, -1)
    yield* gathered(this.#parts(), ({ kind, value }) =>
      kind === 'subject'
        ? `${JSON.stringify({ type: kind, ...this.#as(isSubject, value) })}\n`
        : `{"type":"${kind}",${owner},${String(value).slice(1)}\n`,
    )
  }

  /** One JSON object: `{subject, sessions, events}`. */
  async *json(): AsyncGenerator<string, void, undefined> {
    let last: 'subject' | 'session' | 'event' | null = null
    yield* gathered(this.#parts(), ({ kind, value }) => {
      const isFirst = kind !== last
      last = kind
      if (kind === 'subject') return `{"subject":${JSON.stringify(this.#as(isSubject, value))},\n"sessions":[`
      if (!isFirst) return `,\n${value}`
      if (kind === 'session') return `\n${value}`
      return `],\n"events":[\n${value}`
    })
    yield last === 'event' ? ']}\n' : '],\n"events":[]}\n'
  }

  /** The record as it is, sessions and events as JSON. Throws when the answer ends before its end. */
  async *#parts(): AsyncGenerator<{ kind: 'subject' | 'session' | 'event'; value: unknown }> {
    const { open, requestId } = this.#deps
    for await (const { kind, text } of splitExport(await open())) {
      if (kind === 'session' || kind === 'event') yield { kind, value: text }
      else {
        const answer = parse(text)
        if (answer === undefined) throw new ConnectionError('it breaks off', requestId)
        if (kind === 'record') yield { kind: 'subject', value: withoutLists(answer) }
        else if (!isWhole(answer)) throw this.#unexpected()
      }
    }
  }

  #as<Value>(isValue: (value: unknown) => value is Value, value: unknown): Value {
    if (isValue(value)) return value
    throw this.#unexpected()
  }

  #unexpected(): UnexpectedAnswerError {
    const { requestId } = this.#deps
    return new UnexpectedAnswerError(200, 'The answer has not the shape that was promised.', requestId)
  }
}

/** Texts put together to pieces that are worth handing on. */
async function* gathered<Part>(
  parts: AsyncIterable<Part>,
  toText: (part: Part) => string,
): AsyncGenerator<string, void, undefined> {
  let piece = ''
  for await (const part of parts) {
    piece += toText(part)
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function withoutLists(answer: unknown): unknown {
  if (!isObject(answer) || !isObject(answer.data)) return null
  const { sessions: _sessions, events: _events, ...record } = answer.data
  return record
}

function isWhole(answer: unknown): boolean {
  return isObject(answer) && isMeta(answer.meta) && isObject(answer.data) && Array.isArray(answer.data.events)
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
