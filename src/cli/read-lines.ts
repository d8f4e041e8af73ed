import { createReadStream } from 'node:fs'

/** The lines of a file, or of standard input for `-`. Only a line feed ends a line: JSON may hold every other separator. */
export async function* readLines(file: string): AsyncGenerator<string> {
  const input = file === '-' ? process.stdin : createReadStream(file)
  input.setEncoding('utf8')
  let rest = ''
  let isFirst = true
  try {
    for await (const chunk of input) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        yield isFirst ? withoutByteOrderMark(line) : line
        isFirst = false
      }
    }
  } catch (error) {
    throw new Error(`Cannot read ${file}: ${error instanceof Error ? error.message : error}.`, {
      cause: error,
    })
  }
  if (rest !== '') yield isFirst ? withoutByteOrderMark(rest) : rest
}

function withoutByteOrderMark(line: string): string {
  return line.startsWith('\ufeff') ? line.slice(1) : line
}
