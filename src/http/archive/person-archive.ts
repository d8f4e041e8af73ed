import type { SubjectRef } from '../../domain/person.ts'
import { timeSlices } from '../../domain/semaphore.ts'
import { type ExportPart, safeFileName } from '../../domain/subject-export.ts'
import type { PersonTaker } from '../../operations/export-person.ts'
import { exportWriter, SubjectExport } from '../api/export.ts'
import { type ArchiveContext, indexPage, schemaFile } from './index-page.ts'
import { PersonFacts } from './record-facts.ts'
import { ZipWriter } from './zip-writer.ts'

/**
 * The copy of a person's data, as a ZIP file: a JSON file for each subject, its schema, and a page that
 * people can read. The page comes last, because it summarises the others.
 */
export class PersonArchive implements PersonTaker {
  readonly signal: AbortSignal
  readonly #context: ArchiveContext
  readonly #zip: ZipWriter
  readonly #facts = new PersonFacts()
  #record: ReturnType<typeof exportWriter> | null = null

  /** `add` takes the bytes of the file. */
  constructor(context: ArchiveContext, add: (block: Buffer) => Promise<void>, signal: AbortSignal) {
    this.signal = signal
    this.#context = context
    this.#zip = new ZipWriter(add)
  }

  async take(subject: SubjectRef, part: ExportPart): Promise<void> {
    if (part.kind === 'record') {
      const file = recordFile(this.#facts.totals.records + 1, subject.trackerId)
      this.#facts.begin(subject, part.record, file)
      await this.#zip.begin(file, this.#context.madeAt)
      this.#record = exportWriter(subject.trackerId, (text) => this.#zip.add(text))
    } else this.#facts.add(part)
    await this.#record?.take(part)
  }

  async finish(): Promise<void> {
    await this.#record?.end('\n')
    await this.#zip.end()
    this.#facts.end()
  }

  /** Adds the schema and the page. */
  async end(): Promise<void> {
    await this.#addFile(schemaFile, [recordSchema()])
    await this.#addFile('index.html', this.#page())
    await this.#zip.finish()
  }

  /** Releases what an incomplete archive uses. */
  abandon(): Promise<void> {
    return this.#zip.abandon()
  }

  async #addFile(name: string, pieces: Iterable<string>): Promise<void> {
    const pause = timeSlices()
    await this.#zip.begin(name, this.#context.madeAt)
    for (const piece of pieces) {
      await this.#zip.add(piece)
      await pause()
    }
    await this.#zip.end()
  }

  *#page(): Generator<string> {
    for (const { text } of indexPage(this.#context, this.#facts)) yield text
  }
}

/** Numbered, because IDs may differ only in characters that not every system allows. */
function recordFile(number: number, trackerId: string): string {
  const tracker = safeFileName(trackerId)
  return `records/${String(number).padStart(3, '0')}${tracker && '-'}${tracker}.json`
}

/** JSON Schema of a record's file. */
function recordSchema(): string {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...SubjectExport }
  return `${JSON.stringify(schema, null, 2)}\n`
}
