import {
  type Event,
  isEvent,
  isMeta,
  isObject,
  isSession,
  isSubject,
  type Session,
  type Subject,
} from './api.ts'
import { ConnectionError, UnexpectedAnswerError } from './errors.ts'
import { splitExport } from './split-export.ts'

/** The data subject of an entry. */
interface Owner {
  trackerId: string
  subjectId: string
}

/**
 * An entry of an export: first the record, then all sessions, then all events, oldest first. Each has the IDs
 * of its tracker and data subject, so that `lethe import` accepts it unchanged.
 */
export type ExportEntry =
  | ({ type: 'subject' } & Subject)
  | ({ type: 'session' } & Owner & Session)
  | ({ type: 'event' } & Owner & Event)

interface ExportDeps {
  owner: Owner
  requestId: string | null
  /** Sends the request and returns the response as it arrives. */
  open(): Promise<AsyncIterable<string>>
}

/** The minimum length of a piece of text. */
const pieceLength = 65_536

/**
 * All data of a data subject at one point in time, read while it is consumed: `for await` yields its entries,
 * `ndjson()` and `json()` yield text. Errors are thrown, so an export that ends without one is complete.
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

  /** One JSON object per line, each with its `type` and its data subject, as `lethe import` reads them. */
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

  /** The record as an object, sessions and events as JSON text. Throws if the response is incomplete. */
  async *#parts(): AsyncGenerator<{ kind: 'subject' | 'session' | 'event'; value: unknown }> {
    const { open, requestId } = this.#deps
    for await (const { kind, text } of splitExport(await open())) {
      if (kind === 'session' || kind === 'event') yield { kind, value: text }
      else {
        const answer = parse(text)
        if (answer === undefined) throw new ConnectionError('the response is incomplete', requestId)
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
    return new UnexpectedAnswerError(200, 'The response does not match the API.', requestId)
  }
}

/** Combines short texts into longer pieces. */
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
