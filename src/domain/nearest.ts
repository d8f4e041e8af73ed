/** The one of `names` that takes the fewest changed, missing, added or swapped letters; the first of several. */
export function nearest(text: string, names: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null
  for (const name of names) {
    const distance = editDistance(text, name)
    if (best === null || distance < best.distance) best = { name, distance }
  }
  return best?.name ?? null
}

/** How many letters lie between two texts, two neighbours that changed places being one. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
