/** The columns that the first line of a CSV file names. How it is read for good is the server's to say. */
export function columnsOf(text: string): string[] {
  const [first = ''] = text.replace(/^\ufeff/, '').split(/\r?\n/, 1)
  const separator = [',', ';', '\t'].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a))
  return first.split(separator).map((name) =>
    name
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"')
      .trim(),
  )
}

/** The one that most likely holds whom a list is about. */
export function suggestedColumn(text: string): string | null {
  const columns = columnsOf(text)
  return columns.find((name) => /mail|subject|visitor|^id$/i.test(name)) ?? columns[0] ?? null
}
