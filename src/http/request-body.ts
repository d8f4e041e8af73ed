import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { LetheError } from '../domain/errors.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'

export const maxBodyBytes = 64 * 1024

/** Shorter than the server's time-out for a whole request, so that a slow body is answered as the request it belongs to. */
const bodyTimeoutMs = 20_000

const bodyCutOff = 'lethe:body-cut-off'
const cutOffs = new WeakMap<IncomingMessage, string>()

/** Tells a request that its body will not arrive whole, whether it reads it already or only later. */
export function cutOffBody(request: IncomingMessage, message: string): void {
  cutOffs.set(request, message)
  request.emit(bodyCutOff, message)
}

/** Reads a request's body to its end and forgets it: no operation of the API needs one. Refuses what `receive` refuses. */
export function discardBody(request: IncomingMessage): MaybePromise<void> {
  if (hasBody(request)) return receive(request, () => {})
}

/** Whether a body may take so much memory that not many should be read at a time. */
export function isLarge({ headers }: IncomingMessage, { maxBytes }: BodyBounds): boolean {
  const length = headers['content-length']
  return maxBytes > maxBodyBytes && (length === undefined || Number(length) > maxBodyBytes)
}

/** What a route's body may be. */
export interface BodyBounds {
  maxBytes: number
  /** How many items the lists among its fields may have, by their names. */
  lists: ReadonlyMap<string, number>
}

/**
 * The fields of a JSON object in a request's body; none without a body. Refuses what `receive` refuses, and a body of too many fields
 * before it has all arrived.
 */
export async function readJson(
  request: IncomingMessage,
  { maxBytes, lists }: BodyBounds,
): Promise<Record<string, unknown>> {
  const received = new ReceivedJson(lists)
  if (hasBody(request)) await receive(request, (chunk) => received.add(chunk), maxBytes)
  const { bytes } = received
  if (bytes.length === 0) return {}
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
  const value = isJson && isUtf8(bytes) ? parse(bytes.toString()) : undefined
  if (value === undefined) {
    throw new LetheError(
      'invalid_request',
      'The body must be a JSON object in UTF-8, sent as application/json.',
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw problemWith('body', 'body must be a JSON object')
  if (countMembers(value) !== received.members) throw problemWith('body', 'body must have each field once')
  return { ...value }
}

/** How many fields a body may have besides its lists, at any depth; an item of what is no list of the route's counts as one. */
const maxFields = 1_000

/** Longer names are no list's. */
const maxListNameLength = 64

const [quote, backslash, colon, comma] = Buffer.from('"\\:,')
const [openObject, closeObject, openArray, closeArray] = Buffer.from('{}[]')

/** The bytes of a JSON text as they arrive, and how much of what is in them. Whether they are JSON is for its parser to say. */
class ReceivedJson {
  readonly #lists: ReadonlyMap<string, number>
  #kept = Buffer.alloc(0)
  #length = 0
  /** How many members its objects have, at any depth. */
  members = 0
  #fields = 0
  #items = 0
  /** The brackets that are open. */
  readonly #open: number[] = []
  #isInText = false
  #isEscaped = false
  /** The name of the outermost field, as it is written. */
  #name = ''
  #isInName = false
  /** How many items the list may have that is being read; `null` outside of lists. */
  #maxItems: number | null = null

  constructor(lists: ReadonlyMap<string, number>) {
    this.#lists = lists
  }

  get bytes(): Buffer {
    return this.#kept.subarray(0, this.#length)
  }

  /** Throws a `validation_error` for what is too much. */
  add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#kept.length) {
      const { bytes } = this
      this.#kept = Buffer.allocUnsafe(Math.max(length, 2 * bytes.length))
      bytes.copy(this.#kept)
    }
    chunk.copy(this.#kept, this.#length)
    this.#length = length
    for (const byte of chunk) {
      if (this.#isInText) this.#readText(byte)
      else this.#readStructure(byte)
    }
  }

  #readText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isInText = false
    if (this.#isInText && this.#isInName && this.#name.length < maxListNameLength)
      this.#name += String.fromCharCode(byte)
  }

  #readStructure(byte: number): void {
    switch (byte) {
      case quote:
        this.#isInText = true
        break
      case openObject:
      case openArray:
        this.#openBracket(byte)
        break
      case closeObject:
      case closeArray:
        this.#open.pop()
        if (this.#open.length === 1) this.#maxItems = null
        break
      case colon:
        this.#isInName = false
        this.members += 1
        this.#countField()
        break
      case comma:
        if (this.#open.at(-1) === openArray) this.#countItem()
        else this.#expectName()
    }
  }

  #openBracket(byte: number): void {
    this.#open.push(byte)
    // Only where it is no JSON are there more of them than fields.
    if (this.#open.length > maxFields) throw tooManyFields()
    if (byte === openObject) {
      this.#expectName()
      return
    }
    if (this.#open.length === 2 && this.#open[0] === openObject) {
      this.#maxItems = this.#lists.get(this.#name) ?? null
      this.#items = 0
    }
    this.#countItem()
  }

  #expectName(): void {
    if (this.#open.length !== 1) return
    this.#name = ''
    this.#isInName = true
  }

  #countItem(): void {
    if (this.#maxItems === null || this.#open.length !== 2) {
      this.#countField()
      return
    }
    this.#items += 1
    if (this.#items > this.#maxItems)
      throw problemWith(this.#name, `${this.#name} must have at most ${this.#maxItems} items`)
  }

  #countField(): void {
    this.#fields += 1
    if (this.#fields > maxFields) throw tooManyFields()
  }
}

function tooManyFields(): LetheError {
  return problemWith('body', `body must have at most ${maxFields} fields besides its lists`)
}

function problemWith(field: string, message: string): LetheError {
  return new LetheError('validation_error', `Check ${field}: see details.`, [{ field, message }])
}

/** How many members a value's objects have, at any depth. A name that stands twice in an object has become one. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, each) => sum + countMembers(each), own)
}

/** `undefined` for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/** Resolves at the end of a body. `invalid_request` for one that is too large, too slow or breaks off; what `onChunk` throws ends it too. */
function receive(
  request: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  maxBytes = maxBodyBytes,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refuse = (message: string) => reject(new LetheError('invalid_request', message))
  const onTooLarge = () => refuse(`A request body over ${maxBytes} bytes is refused.`)
  let bytes = 0
  let isRefused = false
  const timer = setTimeout(() => refuse('The request body took too long to arrive.'), bodyTimeoutMs)
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) onTooLarge()
    if (bytes > maxBytes || isRefused) return
    try {
      onChunk(chunk)
    } catch (error) {
      isRefused = true
      reject(error)
    }
  })
  request.once('end', resolve)
  request.once('error', () => refuse('The request body broke off.'))
  request.once(bodyCutOff, refuse)
  const cutOff = cutOffs.get(request)
  if (cutOff !== undefined) refuse(cutOff)
  if (Number(request.headers['content-length']) > maxBytes) onTooLarge()
  return promise.finally(() => {
    clearTimeout(timer)
    request.removeListener(bodyCutOff, refuse)
  })
}
