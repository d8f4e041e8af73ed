import { UnusableRecord } from './format.ts'

/** Reads the fields of one CSV record line by line, so that no character is read twice. */
export class CsvRecordReader {
  readonly #delimiter: string
  #fields: string[] = []
  /** The parts of a quoted field that has not ended. */
  #quoted: string[] | null = null

  constructor(delimiter: string) {
    this.#delimiter = delimiter
  }

  /** Forgets a record that has not ended. */
  reset(): void {
    this.#fields = []
    this.#quoted = null
  }

  /** The fields if the record ends with this line, why they are none, or `null` if it goes on. */
  add(line: string, hasCarriageReturn: boolean): string[] | UnusableRecord | null {
    if (this.#quoted === null && !line.includes('"')) return line.split(this.#delimiter)
    for (let at = 0; ; at += 1) {
      const isQuoted = this.#quoted !== null || line[at] === '"'
      const end = isQuoted ? this.#readQuoted(line, at) : this.#readPlain(line, at)
      if (end === null) {
        this.#quoted?.push(hasCarriageReturn ? '\r\n' : '\n')
        return null
      }
      at = end
      if (at === line.length) return this.#take()
      if (line[at] !== this.#delimiter) {
        this.reset()
        return new UnusableRecord('has text after a closing quote')
      }
    }
  }

  #take(): string[] {
    const fields = this.#fields
    this.reset()
    return fields
  }

  /** Returns the position after the field. A quote in the middle of an unquoted field is part of it. */
  #readPlain(line: string, start: number): number {
    const next = line.indexOf(this.#delimiter, start)
    const end = next === -1 ? line.length : next
    this.#fields.push(line.slice(start, end))
    return end
  }

  /** The same; `null` if the field goes on in the next line. Two quotes stand for one. */
  #readQuoted(line: string, start: number): number | null {
    let at = this.#quoted === null ? start + 1 : start
    const parts = this.#quoted ?? []
    this.#quoted = parts
    for (;;) {
      const end = line.indexOf('"', at)
      if (end === -1) {
        parts.push(line.slice(at))
        return null
      }
      if (line[end + 1] !== '"') {
        parts.push(line.slice(at, end))
        this.#fields.push(parts.join(''))
        this.#quoted = null
        return end + 1
      }
      parts.push(line.slice(at, end + 1))
      at = end + 2
    }
  }
}
