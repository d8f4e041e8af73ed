import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { type Answer, assertDocumented } from './documented.ts'

/** A raw connection: sends any bytes, reads responses one by one. */
export interface RawConnection {
  /** Sends text as Latin-1: one byte per character. */
  send(text: string): void
  /** Reads the next response; one to `HEAD` has no body. Fails if the server closes instead. */
  answer(method?: string): Promise<Answer>
  /** The same, or `null` if the server closes without sending anything more. */
  answerOrEnd(method?: string): Promise<Answer | null>
  /** Everything that the server sends until it closes. */
  rest(): Promise<string>
  /** Ends the sending side and keeps reading. */
  finish(): void
  hangUp(): void
  /** Closes the connection with a TCP reset. */
  reset(): void
}

export interface RawRequest {
  method?: string
  key?: string
  /** Headers in order, sent unchanged. `Host` is sent first unless named here. A list may repeat a name. */
  headers?: readonly [name: string, value: string][] | Readonly<Record<string, string>>
  body?: string
}

/** The bytes of a request. Nothing is normalised: the target is sent as given. */
export function requestText(
  target: string,
  { method = 'GET', key, headers = [], body = '' }: RawRequest = {},
) {
  const lines = [`${method} ${target} HTTP/1.1`]
  const named = Array.isArray(headers) ? headers : Object.entries(headers)
  if (!named.some(([name]) => name.toLowerCase() === 'host')) lines.push('Host: test')
  if (key !== undefined) lines.push(`Authorization: Bearer ${key}`)
  for (const [name, value] of named) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Sends a target that `fetch` would change or refuse, and checks the answer against OpenAPI. */
export async function askRaw(url: string, target: string, request: RawRequest = {}): Promise<Answer> {
  const connection = await openRawConnection(url)
  try {
    connection.send(requestText(target, request))
    const answer = await connection.answer(request.method)
    assertDocumented(request.method ?? 'GET', target, answer)
    return answer
  } finally {
    connection.hangUp()
  }
}

export async function openRawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  const incoming = new Incoming(socket)
  async function answer(method = 'GET'): Promise<Answer> {
    for (;;) {
      const answer = await readAnswer(incoming, method)
      if (answer.status >= 200) return answer
    }
  }
  return {
    send: (text) => {
      socket.write(Buffer.from(text, 'latin1'))
    },
    answer,
    answerOrEnd: async (method) => ((await incoming.hasMore()) ? answer(method) : null),
    rest: () => incoming.untilClosed(),
    finish: () => {
      socket.end()
    },
    hangUp: () => {
      socket.destroy()
    },
    reset: () => {
      socket.resetAndDestroy()
    },
  }
}

/** The received bytes, read piece by piece. */
class Incoming {
  #bytes = Buffer.alloc(0)
  #isClosed = false
  #isTimedOut = false
  #wake = () => {}

  constructor(socket: Socket) {
    socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.from(chunk)])
      this.#wake()
    })
    // A missing answer fails its test instead of blocking it.
    socket.setTimeout(60_000, () => {
      this.#isTimedOut = true
      socket.destroy()
    })
    // A reset also closes the connection.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  async take(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) await this.#more()
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }

  async takeThrough(mark: string): Promise<string> {
    while (!this.#bytes.includes(mark)) await this.#more()
    return (await this.take(this.#bytes.indexOf(mark) + mark.length)).toString('latin1')
  }

  /** Whether the server sends anything more before it closes. */
  async hasMore(): Promise<boolean> {
    while (this.#bytes.length === 0 && !this.#isClosed) await this.#change()
    assert.ok(this.#bytes.length > 0 || !this.#isTimedOut, 'the server neither answered nor closed')
    return this.#bytes.length > 0
  }

  async untilClosed(): Promise<string> {
    while (!this.#isClosed) await this.#change()
    assert.ok(!this.#isTimedOut, 'the server never closed')
    return this.#bytes.toString('latin1')
  }

  async #more(): Promise<void> {
    assert.ok(!this.#isClosed, `the server closed, having said ${JSON.stringify(this.#bytes.toString())}`)
    await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

async function readAnswer(incoming: Incoming, method: string): Promise<Answer> {
  const [statusLine = '', ...lines] = (await incoming.takeThrough('\r\n\r\n')).trimEnd().split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]
  assert.ok(status, `not a status line: ${statusLine}`)
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const hasBody = method !== 'HEAD' && Number(status) >= 200 && status !== '204' && status !== '304'
  const bytes = hasBody ? await readAnswerBody(incoming, headers) : Buffer.alloc(0)
  const isPacked = headers.get('content-encoding') === 'gzip' && bytes.length > 0
  const body = (isPacked ? gunzipSync(bytes) : bytes).toString('utf8')
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? true
  return { status: Number(status), headers, body: body === '' ? null : isJson ? JSON.parse(body) : body }
}

/** Reads a body with a known length, in chunks, or up to the end of the connection. */
async function readAnswerBody(incoming: Incoming, headers: Headers): Promise<Buffer> {
  const length = headers.get('content-length')
  if (length !== null) return incoming.take(Number(length))
  if (headers.get('transfer-encoding') !== 'chunked') {
    assert.equal(headers.get('connection'), 'close', 'an answer of unknown length')
    return Buffer.from(await incoming.untilClosed(), 'latin1')
  }
  const chunks: Buffer[] = []
  for (;;) {
    const size = Number.parseInt(await incoming.takeThrough('\r\n'), 16)
    chunks.push(await incoming.take(size))
    await incoming.take(2)
    if (size === 0) return Buffer.concat(chunks)
  }
}
