// Decodes OTLP messages from protobuf by the field numbers in opentelemetry-proto, so that the exporter is
// not tested with its own code.

/** The type of a field: a scalar or a message. A list of one type marks a repeated field. */
type Kind = 'text' | 'hex' | 'int' | 'bool' | 'time' | 'double' | 'counts' | 'doubles' | Fields
type Fields = { readonly [number: number]: readonly [name: string, kind: Kind | readonly [Kind]] }

// biome-ignore lint/suspicious/noExplicitAny: decoded messages have the shape that the fields below define
type Message = any

const value: Fields = {
  1: ['value', 'text'],
  2: ['value', 'bool'],
  3: ['value', 'int'],
  4: ['value', 'double'],
}
const attribute: Fields = { 1: ['key', 'text'], 2: ['of', value] }
const attributes = ['attributes', [attribute]] as const
const resource: Fields = { 1: attributes }
const event: Fields = { 1: ['at', 'time'], 2: ['name', 'text'], 3: attributes }
const span: Fields = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'int'],
  7: ['startedAt', 'time'],
  8: ['endedAt', 'time'],
  9: attributes,
  11: ['events', [event]],
  15: ['status', { 2: ['message', 'text'], 3: ['code', 'int'] }],
}
const point: Fields = { 4: ['value', 'double'], 6: ['value', 'time'], 7: attributes }
const histogramPoint: Fields = {
  4: ['count', 'time'],
  5: ['sum', 'double'],
  6: ['counts', 'counts'],
  7: ['bounds', 'doubles'],
  9: attributes,
}
const metric: Fields = {
  1: ['name', 'text'],
  2: ['help', 'text'],
  3: ['unit', 'text'],
  5: ['gauge', { 1: ['points', [point]] }],
  7: ['sum', { 1: ['points', [point]], 2: ['temporality', 'int'], 3: ['isMonotonic', 'bool'] }],
  9: ['histogram', { 1: ['points', [histogramPoint]], 2: ['temporality', 'int'] }],
}
const inScopes = (name: string, item: Fields): Fields => ({
  1: ['all', [{ 1: ['resource', resource], 2: ['scopes', [{ 2: [name, [item]] }]] }]],
})
const tracesRequest = inScopes('spans', span)
const metricsRequest = inScopes('metrics', metric)

type Attributes = Record<string, string | number | boolean>

export interface ReceivedSpan {
  resource: Attributes
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  name: string
  /** 1 internal, 2 server, 3 client. */
  kind: number
  /** In nanoseconds. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  events: { name: string; at: number }[]
  /** The code 2 is an error. */
  status?: { code?: number; message?: string }
}

interface ReceivedPoint {
  attributes: Attributes
  value?: number
  count?: number
  sum?: number
  counts?: number[]
  bounds?: number[]
}

export interface ReceivedMetric {
  name: string
  help: string
  unit: string
  gauge?: { points: ReceivedPoint[] }
  sum?: { points: ReceivedPoint[]; temporality: number; isMonotonic: boolean }
  histogram?: { points: ReceivedPoint[]; temporality: number }
}

export function readSpans(body: Buffer): ReceivedSpan[] {
  const { all = [] }: Message = read(body, tracesRequest)
  return all.flatMap(({ resource, scopes = [] }: Message) =>
    scopes.flatMap(({ spans = [] }: Message) =>
      spans.map((each: Message) => ({ events: [], resource: resource?.attributes ?? {}, ...each })),
    ),
  )
}

export function readMetrics(body: Buffer): ReceivedMetric[] {
  const { all = [] }: Message = read(body, metricsRequest)
  return all.flatMap(({ scopes = [] }: Message) => scopes.flatMap(({ metrics = [] }: Message) => metrics))
}

function read(bytes: Buffer, fields: Fields): Message {
  const message: Message = {}
  let at = 0
  const varint = (): number => {
    let result = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++] ?? 0
      result += (byte % 128) * shift
      if (byte < 128) return result
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const wireType = tag % 8
    let start = at
    const length = wireType === 0 || wireType === 2 ? varint() : wireType === 1 ? 8 : 4
    // A varint holds its own value; every other type is followed by its content.
    if (wireType !== 0) {
      start = at
      at += length
    }
    const part = bytes.subarray(start, at)
    const [name, kind] = fields[Math.floor(tag / 8)] ?? []
    if (name === undefined || kind === undefined) continue
    const [repeated] = Array.isArray(kind) ? kind : []
    if (repeated !== undefined) message[name] = [...(message[name] ?? []), scalar(part, repeated)]
    else message[name] = scalar(part, kind as Kind)
  }
  const named = message.attributes
  if (named !== undefined || Object.values(fields).some(([name]) => name === 'attributes'))
    message.attributes = Object.fromEntries((named ?? []).map(({ key, of }: Message) => [key, of?.value]))
  return message
}

function scalar(part: Buffer, kind: Kind): Message {
  if (typeof kind === 'object') return read(part, kind)
  if (kind === 'text') return part.toString()
  if (kind === 'hex') return part.toString('hex')
  if (kind === 'double') return part.readDoubleLE()
  if (kind === 'time') return Number(part.readBigUInt64LE())
  if (kind === 'counts') return eights(part).map((each) => Number(each.readBigUInt64LE()))
  if (kind === 'doubles') return eights(part).map((each) => each.readDoubleLE())
  const number = part.reduce((sum, byte, i) => sum + (byte % 128) * 128 ** i, 0)
  return kind === 'bool' ? number === 1 : number
}

function eights(part: Buffer): Buffer[] {
  return Array.from({ length: part.length / 8 }, (_, i) => part.subarray(i * 8, i * 8 + 8))
}
