import type { IncomingRow } from '../../domain/ingest.ts'

/** Pieces of this size the system takes back when they are let go; of much larger ones, malloc keeps the room. */
const rowsPerPiece = 500
const encoder = new TextEncoder()

/** Rows for the writer thread, as JSON: smaller than what Node makes of them by itself, and read in half the time. */
export function packRows(rows: readonly IncomingRow[]): ArrayBuffer[] {
  const pieces: ArrayBuffer[] = []
  for (let from = 0; from < rows.length; from += rowsPerPiece) {
    pieces.push(encoder.encode(JSON.stringify(rows.slice(from, from + rowsPerPiece))).buffer)
  }
  return pieces
}

/** The rows that were packed. The pieces are empty afterwards. */
export function unpackRows(pieces: readonly ArrayBuffer[]): IncomingRow[] {
  return pieces.flatMap((piece) => {
    const rows: IncomingRow[] = JSON.parse(Buffer.from(piece).toString())
    // Lets go of its memory now, not when garbage is next collected.
    piece.transfer(0)
    return rows
  })
}
