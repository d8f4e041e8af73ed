import type { HeaderList } from './request-context.ts'

const frameHead = 9
const data = 0x0
const headersFrame = 0x1
const settings = 0x4
const goAway = 0x7
/** `END_STREAM` of `DATA`, and `ACK` of `SETTINGS`. */
const last = 0x1
const endHeaders = 0x4
const http11Required = 0xd

/** An answer to whoever speaks HTTP/2 to us without having asked. */
interface Refusal {
  status: number
  headers: HeaderList
  body: Buffer
}

/**
 * A refusal in HTTP/2, which its clients can read: an answer to the first request, where that came with the preface, and the word that
 * HTTP/1.1 is wanted. `null` where no frame follows the preface: whoever sends it alone reads text.
 */
export function http2Refusal(afterPreface: Buffer, { status, headers, body }: Refusal): Buffer | null {
  const frames = framesIn(afterPreface)
  if (frames[0]?.type !== settings) return null
  const stream = frames.find(({ type }) => type === headersFrame)?.stream ?? 0
  const answer = [
    frame(headersFrame, endHeaders, stream, headerBlock(status, headers)),
    frame(data, last, stream, body),
  ]
  const bye = Buffer.alloc(8)
  bye.writeUInt32BE(stream, 0)
  bye.writeUInt32BE(http11Required, 4)
  return Buffer.concat([
    frame(settings, 0, 0, Buffer.alloc(0)),
    frame(settings, last, 0, Buffer.alloc(0)),
    ...(stream === 0 ? [] : answer),
    frame(goAway, 0, 0, Buffer.concat([bye, body])),
  ])
}

/** The whole frames at the beginning of some bytes. */
function framesIn(bytes: Buffer): { type: number; stream: number }[] {
  const frames = []
  for (let at = 0; at + frameHead <= bytes.length; ) {
    const end = at + frameHead + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    frames.push({ type: bytes.readUInt8(at + 3), stream: bytes.readUInt32BE(at + 5) & 0x7fffffff })
    at = end
  }
  return frames
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(frameHead)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Headers as HPACK has them in its plainest form: each by its name, nothing compressed. */
function headerBlock(status: number, headers: HeaderList): Buffer {
  const parts = [field(':status', String(status))]
  for (let at = 0; at < headers.length; at += 2) {
    parts.push(field(String(headers[at]).toLowerCase(), String(headers[at + 1])))
  }
  return Buffer.concat(parts)
}

function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  // From 127 on, the length goes on in groups of seven bits.
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.of(...length, rest), bytes])
}
