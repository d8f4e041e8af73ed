/** Parses a number of leaves or an index: decimal, without leading zeros. `null` for anything else. */
export function parseSize(text: string): number | null {
  const size = Number(text)
  return /^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(size) ? size : null
}
