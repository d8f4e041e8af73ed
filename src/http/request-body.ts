import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { invalidField, LetheError } from '../domain/errors.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'

export const maxBodyBytes = 64 * 1024

/** Shorter than the server's timeout for a request, so that a slow body gets a response of its request. */
const bodyTimeoutMs = 20_000

const bodyCutOff = 'lethe:body-cut-off'
const cutOffs = new WeakMap<IncomingMessage, string>()

/** Makes reading the body fail, whether it has already started or not. */
export function cutOffBody(request: IncomingMessage, message: string): void {
  cutOffs.set(request, message)
  request.emit(bodyCutOff, message)
}

/** Reads and discards a body that the route does not need. Throws like `receive`. */
export function discardBody(request: IncomingMessage): MaybePromise<void> {
  if (hasBody(request)) return receive(request, () => {})
}

/** Whether a body may be so large that only few should be read concurrently. */
export function isLarge({ headers }: IncomingMessage, { maxBytes }: BodyBounds): boolean {
  const length = headers['content-length']
  return maxBytes > maxBodyBytes && (length === undefined || Number(length) > maxBodyBytes)
}

/** The limits of a route's body. */
export interface BodyBounds {
  maxBytes: number
  /** The maximum number of items of each list field. */
  lists: ReadonlyMap<string, number>
}

/** Reads the fields of a JSON object; none without a body. Throws like `receive`, and for too many fields. */
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
    throw invalidField('body', 'body must be a JSON object')
  if (countMembers(value) !== received.members) throw invalidField('body', 'body must not repeat a field')
  return { ...value }
}

/**
 * The maximum number of fields at any depth. Items of lists that the route does not declare count as fields.
 */
const maxFields = 1_000

/** No list has a longer name. */
const maxListNameLength = 64

const [quote, backslash, colon, comma] = Buffer.from('"\\:,')
const [openObject, closeObject, openArray, closeArray] = Buffer.from('{}[]')

/** Collects JSON text and counts fields and items while it arrives. The parser checks its syntax later. */
class ReceivedJson {
  readonly #lists: ReadonlyMap<string, number>
  #kept = Buffer.alloc(0)
  #length = 0
  /** The number of members of all objects. */
  members = 0
  #fields = 0
  #items = 0
  /** The open brackets. */
  readonly #open: number[] = []
  #isInText = false
  #isEscaped = false
  /** The name of the current top-level field, not unescaped. */
  #name = ''
  #isInName = false
  /** The maximum number of items of the current list; `null` outside a list. */
  #maxItems: number | null = null

  constructor(lists: ReadonlyMap<string, number>) {
    this.#lists = lists
  }

  get bytes(): Buffer {
    return this.#kept.subarray(0, this.#length)
  }

  /** Throws a `validation_error` for too many fields or items. */
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
    // Valid JSON does not have more brackets than fields.
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
      throw invalidField(this.#name, `${this.#name} must have at most ${this.#maxItems} items`)
  }

  #countField(): void {
    this.#fields += 1
    if (this.#fields > maxFields) throw tooManyFields()
  }
}

function tooManyFields(): LetheError {
  return invalidField('body', `body must have at most ${maxFields} fields besides its lists`)
}

/** The number of members of all objects. The parser has merged repeated names. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, each) => sum + countMembers(each), own)
}

/** `undefined` for invalid JSON. */
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

/** Resolves at the end of the body. `invalid_request` if it is too large, too slow or incomplete. */
export function receive(
  request: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  maxBytes = maxBodyBytes,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refuse = (message: string) => reject(new LetheError('invalid_request', message))
  const onTooLarge = () => refuse(`The request body is larger than ${maxBytes} bytes.`)
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
  request.once('error', () => refuse('The request body is incomplete.'))
  request.once(bodyCutOff, refuse)
  const cutOff = cutOffs.get(request)
  if (cutOff !== undefined) refuse(cutOff)
  if (Number(request.headers['content-length']) > maxBytes) onTooLarge()
  return promise.finally(() => {
    clearTimeout(timer)
    request.removeListener(bodyCutOff, refuse)
  })
}
