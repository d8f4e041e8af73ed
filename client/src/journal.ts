import { JournalError } from './errors.ts'

/** Where a batch notes what it has done: lines of text, added one by one, never changed. */
export interface Journal {
  /** Every whole line so far, oldest first; none when the journal does not exist yet. */
  read(): Promise<string[]>
  /** Adds a line. Once this resolves, the line survives whatever happens to the process or the machine. */
  append(line: string): Promise<void>
}

/** What a batch did about one data subject, by its position in the list. The journal holds no ids: who was erased must not live on in it. */
export type JournalEntry =
  /** About to be sent. Without an entry behind it, nobody knows whether it was. */
  | { type: 'sent'; position: number; nextAt: string | null }
  /** Refused for certain: nothing was erased. */
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
  /** When the one behind it was due, so that a batch that goes on does not begin too soon. */
  nextAt: string | null
}

/** The first line: whose journal this is. */
interface Heading {
  type: 'batch'
  version: 1
  total: number
  salt: string
  digest: string
}

/** How every journal begins. */
export const journalStart = '{"type":"batch","version":'

/** A batch, told apart from every other: the same ids in the same order, of the same tracker, at the same service. */
export interface BatchIdentity {
  url: string
  trackerId: string
  ids: readonly string[]
}

/** What is in a journal, once it is known to be this batch's. `null` for a journal that does not exist yet. */
export async function readJournal(journal: Journal, identity: BatchIdentity): Promise<JournalEntry[] | null> {
  const [first, ...rest] = (await journal.read()).map(parse)
  if (first === undefined) return null
  if (!isHeading(first)) throw new JournalError('This is not the journal of a batch of erasures.')
  if (first.total !== identity.ids.length || first.digest !== (await digestOf(identity, first.salt))) {
    throw new JournalError(
      'This journal belongs to another batch: other ids, another order, another tracker or another service.',
    )
  }
  return rest.map((entry, i) => {
    if (isEntry(entry, identity.ids.length)) return entry
    throw new JournalError(`Line ${i + 2} of the journal is damaged.`)
  })
}

export async function beginJournal(journal: Journal, identity: BatchIdentity): Promise<void> {
  const salt = hex(crypto.getRandomValues(new Uint8Array(16)))
  const digest = await digestOf(identity, salt)
  const heading: Heading = { type: 'batch', version: 1, total: identity.ids.length, salt, digest }
  await journal.append(JSON.stringify(heading))
}

/** Many, so that whoever finds a journal and guesses at the list behind it, which may be short, gets nowhere soon. */
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
