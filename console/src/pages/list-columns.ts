const separators = [',', ';', '\t']

/** More than any header line. */
const maxHeaderLength = 100_000

/** The column names in the first line of a CSV file, for the form only: the server parses the file itself. */
export function columnsOf(text: string): string[] {
  const [first = ''] = text
    .slice(0, maxHeaderLength)
    .replace(/^\ufeff/, '')
    .split(/[\r\n]/, 1)
  const columns = separators
    .map((separator) => splitOutsideQuotes(first, separator))
    .reduce((most, each) => (each.length > most.length ? each : most))
  return columns.map((name) =>
    name
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"')
      .trim(),
  )
}

function splitOutsideQuotes(line: string, separator: string): string[] {
  const fields = ['']
  let isQuoted = false
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted
    if (character === separator && !isQuoted) fields.push('')
    else fields.push((fields.pop() ?? '') + character)
  }
  return fields
}

/** The column that most likely identifies the people. */
export function suggestedColumn(text: string): string | null {
  const columns = columnsOf(text)
  return columns.find((name) => /mail|subject|visitor|^id$/i.test(name)) ?? columns[0] ?? null
}

/** Enough lines to tell what the others are. */
const linesLookedAt = 200

/**
 * Whether most lines, or the column by its name, are e-mail addresses. An ID can be one, so this is only a
 * suggestion.
 */
export function looksLikeAddresses(text: string, column: string | null): boolean {
  if (column !== null) return /mail/i.test(column)
  const lines = text
    .slice(0, maxHeaderLength)
    .split('\n', linesLookedAt)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.length > 0 && lines.filter((line) => /^[^@\s]+@[^@\s]+$/.test(line)).length * 2 > lines.length
}

/** The limit of a request body. */
const maxFileBytes = 4 * 1024 * 1024

/** The text of a file in UTF-8, or in UTF-16 with a byte order mark; or the problem with it. */
export async function readTextFile(file: Blob): Promise<{ text: string } | { problem: string }> {
  if (file.size > maxFileBytes)
    return { problem: 'The file is larger than 4 MiB. Split it into several lists.' }
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return { text }
  } catch {
    // The bytes are not in this encoding.
  }
  return { problem: 'The file is not text in UTF-8. Export it as CSV in UTF-8 and choose it again.' }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
