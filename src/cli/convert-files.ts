import { type ConvertSummary, type LineLimits, RecordConverter } from '../convert/convert-records.ts'
import { cutCsv, cutJson, cutLines } from '../convert/cut-records.ts'
import { type ConvertOptions, type Cut, type Format, UnusableFile } from '../convert/format.ts'
import { cannotRead, type InputFiles, sourceName } from './input-files.ts'

interface ConvertWork {
  format: Format
  options: ConvertOptions
  limits: LineLimits
  /** Updated continuously. */
  summary: ConvertSummary
}

/** Converts the chunks of a file to the text of import lines. */
type ConvertFile = (chunks: AsyncIterable<Buffer>, file: string) => AsyncGenerator<string>

/** The files of a conversion as the text of import lines. */
export class ConvertedFiles {
  /** Why the files could not be read to their end. */
  failure: string | null = null
  readonly #input: InputFiles
  readonly #convertFile: ConvertFile

  /** Throws `UsageProblem` if the format needs other options. */
  constructor(work: ConvertWork, input: InputFiles) {
    this.#convertFile = startFormat(work)
    this.#input = input
  }

  /** Ends with a `failure` instead of throwing, because the text before it is still valid. */
  async *text(): AsyncGenerator<string> {
    for (const file of this.#input.files) {
      try {
        yield* this.#convertFile(this.#input.read(file), sourceName(file))
      } catch (error) {
        this.failure = failureOf(file, error)
        return
      }
    }
  }
}

function failureOf(file: string, error: unknown): string {
  if (error instanceof UnusableFile) return `Cannot convert ${sourceName(file)}: ${error.message}.`
  return cannotRead(file, error).message
}

/** One conversion for all files, so that a session can continue from one file to the next. */
function startFormat({ format, options, limits, summary }: ConvertWork): ConvertFile {
  const { maxLineBytes } = limits
  switch (format.input) {
    case 'lines': {
      const converter = new RecordConverter(format.start(options), limits, summary)
      return (chunks, file) => textOf(cutLines(chunks, maxLineBytes), file, converter)
    }
    case 'json': {
      const converter = new RecordConverter(format.start(options), limits, summary)
      return (chunks, file) => textOf(cutJson(chunks, maxLineBytes, format.list), file, converter)
    }
    case 'csv': {
      const converter = new RecordConverter(format.start(options), limits, summary)
      const csv = {
        delimiter: options.delimiter,
        onColumns: (columns: readonly string[]) => converter.begin(columns),
      }
      return (chunks, file) => textOf(cutCsv(chunks, maxLineBytes, csv), file, converter)
    }
  }
}

/** Written in one piece when it is this long, so that a record with many lines is not held twice. */
const pieceLength = 256 * 1024

async function* textOf<Source>(
  blocks: AsyncIterable<readonly Cut<Source>[]>,
  file: string,
  converter: RecordConverter<Source>,
): AsyncGenerator<string> {
  for await (const cuts of blocks) {
    let lines: string[] = []
    let length = 0
    for (const cut of cuts) {
      const before = lines.length
      converter.convert(cut, file, lines)
      for (let i = before; i < lines.length; i++) length += lines[i]?.length ?? 0
      if (length < pieceLength) continue
      yield `${lines.join('\n')}\n`
      lines = []
      length = 0
    }
    if (lines.length > 0) yield `${lines.join('\n')}\n`
  }
}
