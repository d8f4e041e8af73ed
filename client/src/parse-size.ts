/** A number of leaves, or the index of one, as text: decimal, no zeros in front. `null` where it is none. */
export function parseSize(text: string): number | null {
  const size = Number(text)
  return /^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(size) ? size : null
}
