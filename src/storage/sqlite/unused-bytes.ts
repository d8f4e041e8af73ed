/** A chunk of bytes within a page, from `start` up to, not including, `end`. */
export interface ByteRange {
  start: number
  end: number
}

/** A page, or a file, that is not as SQLite writes it: nothing of it is touched. */
export class DamagedPage extends Error {
  override name = 'DamagedPage'
}

/** How long the header of each kind of b-tree page is: interior and leaf pages of indexes and tables. */
const headerSizes: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }
const fileHeaderSize = 100

/**
 * Finds the bytes of a page that belong to no row: between the pointers to its cells and the cells, and in its free blocks, of which
 * the first four bytes lead to the next. SQLite reads none of them. Other pages than those of b-trees have none: with
 * `secure_delete` they hold what is stored, or zeros. See https://sqlite.org/fileformat2.html#b_tree_pages.
 */
export function unusedBytes(page: Buffer, number: number): ByteRange[] {
  const header = number === 1 ? fileHeaderSize : 0
  const headerSize = headerSizes[page.readUInt8(header)]
  if (headerSize === undefined) return []
  const cells = page.readUInt16BE(header + 3)
  const pointers = header + headerSize
  const gap = { start: pointers + 2 * cells, end: page.readUInt16BE(header + 5) || 65_536 }
  if (gap.start > gap.end || gap.end > page.length) throw damaged(number)
  const freeBlocks = freeBlocksFrom(page, number, page.readUInt16BE(header + 1), gap.end)
  for (let pointer = pointers; pointer < gap.start; pointer += 2) {
    const cell = page.readUInt16BE(pointer)
    const isFree = freeBlocks.some(({ start, end }) => cell >= start && cell < end)
    if (cell < gap.end || cell >= page.length || isFree) throw damaged(number)
  }
  return [gap, ...freeBlocks.map(({ start, end }) => ({ start: start + 4, end }))].filter(
    ({ start, end }) => start < end,
  )
}

/** The free blocks among the cells. Each stands behind the one before it. */
function freeBlocksFrom(page: Buffer, number: number, first: number, contentStart: number): ByteRange[] {
  const blocks: ByteRange[] = []
  let after = contentStart
  for (let start = first; start !== 0; start = page.readUInt16BE(start)) {
    if (start < after || start + 4 > page.length) throw damaged(number)
    const end = start + page.readUInt16BE(start + 2)
    if (end < start + 4 || end > page.length) throw damaged(number)
    blocks.push({ start, end })
    after = end
  }
  return blocks
}

function damaged(number: number): DamagedPage {
  return new DamagedPage(`Page ${number} of the store is damaged; it was left as it is.`)
}
