import { ConnectionError } from './errors.ts'

/** The record at the end of a ZIP file without a comment. */
const endLength = 22
const endSignature = [0x50, 0x4b, 0x05, 0x06]

/** Passes on a ZIP file as it arrives. Throws at its end if that is not the end of a ZIP file. */
export async function* wholeZip(
  pieces: AsyncIterable<Uint8Array>,
  requestId: string | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  let tail: number[] = []
  for await (const piece of pieces) {
    tail = [...tail, ...piece.subarray(-endLength)].slice(-endLength)
    yield piece
  }
  if (tail.length < endLength || endSignature.some((byte, i) => tail[i] !== byte))
    throw new ConnectionError('the response is incomplete', requestId)
}
