import { JournalError } from './errors.ts'

/** The checkpoint file of a batch, which records its progress: lines that are appended and never changed. */
export interface Journal {
  /** All complete lines, oldest first; none if the file does not exist yet. */
  read(): Promise<string[]>
  /** Appends a line. When this resolves, the line survives a crash of the process or the machine. */
  append(line: string): Promise<void>
}

/** What happened to a data subject, by its position in the list. No IDs, to not reveal who was erased. */
export type JournalEntry =
  /** About to be sent. Without a later entry, it is unknown whether it was. */
  | { type: 'sent'; position: number; nextAt: string | null }
  /** Refused, so nothing was erased. */
  | { type: 'refused'; position: number }
  | DoneEntry

export interface DoneEntry {
  type: 'done'
  position: number
  alreadyErased: boolean
  countsKnown: boolean
  sessions: number
  events: number
  erasedAt: string
  requestId: string
  /** When the next erasure was due, so that a continued batch does not start too early. */
  nextAt: string | null
}

/** The first line, which identifies the batch. */
interface Heading {
  type: 'batch'
  version: 1
  total: number
  salt: string
  digest: string
}

/** The beginning of every checkpoint file. */
export const journalStart = '{"type":"batch","version":'

/** What makes two batches the same: the IDs, their order, the tracker and the service. */
export interface BatchIdentity {
  url: string
  trackerId: string
  ids: readonly string[]
}

/** Reads the entries and checks that they belong to this batch. `null` if the file does not exist yet. */
export async function readJournal(journal: Journal, identity: BatchIdentity): Promise<JournalEntry[] | null> {
  const [first, ...rest] = (await journal.read()).map(parse)
  if (first === undefined) return null
  if (!isHeading(first)) throw new JournalError('This is not the checkpoint file of a batch of erasures.')
  if (first.total !== identity.ids.length || first.digest !== (await digestOf(identity, first.salt))) {
    throw new JournalError(
      'This checkpoint file belongs to another batch: the IDs, their order, the tracker or the service differ.',
    )
  }
  return rest.map((entry, i) => {
    if (isEntry(entry, identity.ids.length)) return entry
    throw new JournalError(`Line ${i + 2} of the checkpoint file is damaged.`)
  })
}

export async function beginJournal(journal: Journal, identity: BatchIdentity): Promise<void> {
  const salt = hex(crypto.getRandomValues(new Uint8Array(16)))
  const digest = await digestOf(identity, salt)
  const heading: Heading = { type: 'batch', version: 1, total: identity.ids.length, salt, digest }
  await journal.append(JSON.stringify(heading))
}

/** Many, so that guessing a list from its checkpoint file is slow, even if the list is short. */
const iterations = 200_000

async function digestOf({ url, trackerId, ids }: BatchIdentity, salt: string): Promise<string> {
  const encode = (text: string) => new TextEncoder().encode(text)
  const list = encode(JSON.stringify([url, trackerId, ...ids]))
  const key = await crypto.subtle.importKey('raw', list, 'PBKDF2', false, ['deriveBits'])
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt: encode(salt), iterations }
  return hex(new Uint8Array(await crypto.subtle.deriveBits(parameters, key, 256)))
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function isHeading(value: unknown): value is Heading {
  return (
    isObject(value) &&
    value.type === 'batch' &&
    value.version === 1 &&
    typeof value.total === 'number' &&
    typeof value.salt === 'string' &&
    typeof value.digest === 'string'
  )
}

function isEntry(value: unknown, total: number): value is JournalEntry {
  if (!isObject(value) || typeof value.position !== 'number' || !Number.isInteger(value.position))
    return false
  if (value.position < 0 || value.position >= total) return false
  if (value.type === 'refused') return true
  if (value.nextAt !== null && typeof value.nextAt !== 'string') return false
  if (value.type === 'sent') return true
  return (
    value.type === 'done' &&
    typeof value.alreadyErased === 'boolean' &&
    typeof value.countsKnown === 'boolean' &&
    typeof value.sessions === 'number' &&
    typeof value.events === 'number' &&
    typeof value.erasedAt === 'string' &&
    typeof value.requestId === 'string'
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
