/** Where a spreadsheet may start a cell: at the start, or after another separator, even in quotes. */
const formulaStart = /(?:^|[;\t\r\n])\s*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/** A line of RFC 4180. */
export function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map(toCsvField).join(',')}\r\n`
}

/** Prevents formula injection, because anyone can choose names and request IDs. */
function toCsvField(value: string | number): string {
  const text = String(value)
  const harmless = text.replace(formulaStart, "$&'")
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
