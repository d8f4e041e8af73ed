import { isUtf8 } from 'node:buffer'
import { parseJsonObject } from './fields.ts'
import { type Cut, type JsonObject, UnusableFile, UnusableRecord } from './format.ts'

/** The maximum length of an object in a document: a visit with thousands of actions has some megabytes. */
export const maxJsonRecordBytes = 16 * 1024 * 1024

const code = {
  ...{ quote: 0x22, comma: 0x2c, colon: 0x3a, backslash: 0x5c },
  ...{ openBracket: 0x5b, closeBracket: 0x5d, openBrace: 0x7b, closeBrace: 0x7d },
}

/**
 * Cuts a JSON document into the objects of its array while it is read: an array at the top, or in the field
 * `list` of the object at the top. Objects one after the other are records too. Works on bytes, because no
 * byte of a character outside ASCII equals a bracket or quote.
 */
export class JsonRecords {
  readonly #list: string | undefined
  readonly #maxBytes: number
  /** Whether the current position is inside the array of records. */
  #isInList = false
  /** Whether that array belongs to an object, the rest of which is skipped. */
  #isWrapped = false
  /** How many brackets are open in the current value; 0 between records. */
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** The bytes of the current record in earlier chunks. Discarded if it is too long or only skipped. */
  #parts: Buffer[] = []
  #bytes = 0
  #keeps = false
  /** The last text directly inside the object at the top, which may be the name of the list. */
  #name: number[] = []
  #number = 0

  constructor(list: string | undefined, maxBytes = maxJsonRecordBytes) {
    this.#list = list
    this.#maxBytes = maxBytes
  }

  /** Throws `UnusableFile` if the document is not JSON. */
  *add(chunk: Buffer): Generator<Cut<JsonObject>> {
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0
      if (this.#isInString) {
        this.#readString(byte)
      } else if (this.#depth === 0) {
        if (this.#openValue(byte)) start = at
      } else if (byte === code.quote) {
        this.#isInString = true
        this.#name = []
      } else if (byte === code.openBrace || byte === code.openBracket) {
        this.#depth += 1
        if (byte === code.openBracket && this.#isList()) this.#enterList()
      } else if (byte === code.closeBrace || byte === code.closeBracket) {
        this.#depth -= 1
        if (this.#depth > 0) continue
        if (this.#keeps) yield this.#take(chunk.subarray(start, at + 1))
        this.#keeps = false
      }
    }
    if (this.#keeps) this.#store(chunk.subarray(start))
  }

  /** Throws `UnusableFile` if the document has not ended. */
  end(): void {
    if (this.#depth > 0 || this.#isInList) throw new UnusableFile('it is truncated')
  }

  #readString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === code.backslash) this.#isEscaped = true
    else if (byte === code.quote) this.#isInString = false
    if (this.#depth === 1 && !this.#isInList && this.#name.length < 100) this.#name.push(byte)
  }

  /** Between records. Returns whether a record begins here. */
  #openValue(byte: number): boolean {
    if (byte === code.openBrace) {
      this.#depth = 1
      this.#keeps = true
      return true
    }
    if (byte === code.openBracket && !this.#isInList) this.#isInList = true
    else if (byte === code.closeBracket && this.#isInList) this.#leaveList()
    else if (!isSpace(byte) && !(byte === code.comma && this.#isInList))
      throw new UnusableFile('it is not JSON, or not a list of objects')
    return false
  }

  #isList(): boolean {
    if (this.#list === undefined || this.#isInList || this.#depth !== 2 || !this.#keeps) return false
    return Buffer.from(this.#name).toString() === `${this.#list}"`
  }

  #enterList(): void {
    this.#isInList = true
    this.#isWrapped = true
    this.#depth = 0
    this.#discard()
    this.#keeps = false
  }

  #leaveList(): void {
    this.#isInList = false
    if (this.#isWrapped) this.#depth = 1
    this.#isWrapped = false
  }

  #store(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) this.#parts = []
    else this.#parts.push(Buffer.from(part))
  }

  #discard(): void {
    this.#parts = []
    this.#bytes = 0
  }

  #take(last: Buffer): Cut<JsonObject> {
    this.#number += 1
    const bytes = this.#bytes + last.length
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#discard()
    return { number: this.#number, source: bytes > this.#maxBytes ? tooLong(this.#maxBytes) : parse(whole) }
  }
}

function parse(bytes: Buffer): JsonObject | UnusableRecord {
  if (!isUtf8(bytes)) return new UnusableRecord('not UTF-8')
  try {
    return parseJsonObject(bytes.toString('utf8'))
  } catch (error) {
    if (error instanceof UnusableRecord) return error
    throw error
  }
}

function tooLong(maxBytes: number): UnusableRecord {
  return new UnusableRecord(`longer than ${maxBytes / 1024} KiB`)
}

/** White space of JSON, and the byte order mark. */
function isSpace(byte: number): boolean {
  return [0x20, 0x0a, 0x0d, 0x09, 0xef, 0xbb, 0xbf].includes(byte)
}
