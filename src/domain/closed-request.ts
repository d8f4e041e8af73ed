import type { Actor, DataCounts } from './activity.ts'
import { formatInstant, formatInstantOrNull, type Instant, parseInstant } from './instant.ts'
import type { Fields } from './json.ts'
import {
  type PrivacyRequest,
  type RequestItem,
  requestKinds,
  requestOutcomes,
  requestStates,
} from './privacy-request.ts'
import type { RequestExclusion } from './request-handling.ts'

/** What remains of a request when it is closed. */
interface ClosedRequest
  extends Pick<
    PrivacyRequest,
    | ('kind' | 'reference' | 'receivedAt' | 'dueAt' | 'extendedAt' | 'extensionReason' | 'rejectionReason')
    | ('namesIdentifiers' | 'contentDigest' | 'createdAt' | 'createdBy' | 'startedBy' | 'requestId')
    | ('found' | 'erased' | 'left' | 'assigneeId' | 'listLine')
  > {
  state: 'done' | 'rejected' | 'cancelled'
  /** Recognise the requests of its person. */
  personDigests: readonly Uint8Array[]
}

/** The closing of a request as a change that must survive the loss of the store. */
export interface JournalledClosing {
  kind: 'closing'
  organisationId: string
  /** The request's ID. */
  id: string
  at: Instant
  request: ClosedRequest
  /** The excluded subjects; `null` after the first line, and in lines of versions that did not write them. */
  exclusions: readonly RequestExclusion[] | null
  /** The position of the first item. A request with many items has several lines. */
  from: number
  items: readonly RequestItem[]
  /** Whether these are the last items. */
  isLast: boolean
}

/** The kind of such a line. */
export const closingKind = 'request.closed'

const digestPattern = /^[0-9a-f]{32}$/

export function closingFields(closing: JournalledClosing) {
  const { organisationId, id, at, request, exclusions, from, items, isLast } = closing
  const { kind, personDigests, receivedAt, dueAt, extendedAt, createdAt, requestId, ...same } = request
  return {
    ...{ kind: closingKind, organisationId, requestId: id, at: formatInstant(at), requestKind: kind },
    ...{ receivedAt: formatInstant(receivedAt), dueAt: formatInstant(dueAt) },
    ...{ extendedAt: formatInstantOrNull(extendedAt) },
    ...{ createdAt: formatInstant(createdAt), startedWith: requestId, ...same },
    people: personDigests.map(toHex),
    ...(exclusions && { exclusions: exclusions.map(exclusionFields) }),
    from,
    items: items.map(({ position: _, entry, ...item }) => ({ ...item, ...entry })),
    isLast,
  }
}

function exclusionFields({ digest, at, ...same }: RequestExclusion) {
  return { digest: toHex(digest), at: formatInstant(at), ...same }
}

function toHex(digest: Uint8Array): string {
  return Buffer.from(digest).toString('hex')
}

/** `null` for fields that `closingFields` did not make. */
export function parseClosing(fields: Fields): JournalledClosing | null {
  try {
    const id = text(fields.requestId)
    const from = count(fields.from)
    return {
      ...{ kind: 'closing', organisationId: text(fields.organisationId), id, at: instant(fields.at) },
      ...{ request: toRequest(fields), from, isLast: boolean(fields.isLast) },
      exclusions: toExclusions(fields.exclusions),
      items: list(fields.items).map((item, i) => toItem(object(item), from + i)),
    }
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}

function toRequest(fields: Fields): ClosedRequest {
  const state = oneOf(requestStates, fields.state)
  if (state === 'open' || state === 'running') throw new Unreadable()
  return {
    kind: oneOf(requestKinds, fields.requestKind),
    state,
    reference: orNull(text, fields.reference),
    receivedAt: instant(fields.receivedAt),
    dueAt: instant(fields.dueAt),
    extendedAt: orNull(instant, fields.extendedAt),
    extensionReason: orNull(text, fields.extensionReason),
    rejectionReason: orNull(text, fields.rejectionReason),
    namesIdentifiers: boolean(fields.namesIdentifiers),
    contentDigest: text(fields.contentDigest),
    createdAt: instant(fields.createdAt),
    createdBy: actor(fields.createdBy),
    startedBy: orNull(actor, fields.startedBy),
    requestId: orNull(text, fields.startedWith),
    found: counts(fields.found),
    erased: counts(fields.erased),
    left: orNull(count, fields.left),
    assigneeId: orNull(text, fields.assigneeId),
    listLine: count(fields.listLine),
    personDigests: list(fields.people).map(digest),
  }
}

function toExclusions(value: unknown): RequestExclusion[] | null {
  if (value === undefined) return null
  return list(value).map((each) => {
    const fields = object(each)
    return {
      digest: digest(fields.digest),
      trackerId: text(fields.trackerId),
      reason: text(fields.reason),
      at: instant(fields.at),
      by: actor(fields.by),
    }
  })
}

function toItem({ outcome, trackerId, identifier, ledgerIndex, sealedNonce }: Fields, position: number) {
  const isProven = ledgerIndex !== undefined
  return {
    position,
    outcome: oneOf(requestOutcomes, outcome),
    trackerId: orNull(text, trackerId),
    identifier: orNull(text, identifier),
    entry: isProven ? { ledgerIndex: count(ledgerIndex), sealedNonce: text(sealedNonce) } : null,
  }
}

class Unreadable extends Error {}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Unreadable()
  return value
}

function boolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Unreadable()
  return value
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Unreadable()
  return value
}

function instant(value: unknown): Instant {
  const parsed = parseInstant(value)
  if (parsed === null) throw new Unreadable()
  return parsed
}

function digest(value: unknown): Uint8Array {
  if (!digestPattern.test(text(value))) throw new Unreadable()
  return Buffer.from(text(value), 'hex')
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Unreadable()
  return value
}

function object(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Unreadable()
  return { ...value }
}

function orNull<Value>(read: (value: unknown) => Value, value: unknown): Value | null {
  return value === null ? null : read(value)
}

function oneOf<Name extends string>(names: readonly Name[], value: unknown): Name {
  const name = names.find((each) => each === value)
  if (name === undefined) throw new Unreadable()
  return name
}

function actor(value: unknown): Actor {
  const fields = object(value)
  const kind = oneOf(['member', 'key', 'command-line'], fields.kind)
  return kind === 'command-line' ? { kind } : { kind, id: text(fields.id), name: text(fields.name) }
}

function counts(value: unknown): DataCounts {
  const { subjects, sessions, events } = object(value)
  return { subjects: count(subjects), sessions: count(sessions), events: count(events) }
}
