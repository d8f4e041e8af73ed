/** What went wrong with a request, as the envelope tells it. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  /** What is wrong with each field, by its name. */
  readonly fields: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    requestId: string | null,
    fields: Record<string, string> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.fields = fields
  }
}

interface Envelope<Data> {
  data?: Data
  error?: { code: string; message: string; details?: { field: string; message: string }[] }
  meta?: { requestId: string }
}

const base = '/console/api'

/** Asks the server for something; `ApiError` when it does not give it. */
export function read<Data>(path: string, signal?: AbortSignal): Promise<Data> {
  return send<Data>(path, { signal: signal ?? null })
}

/** Asks the server to change something. */
export function change<Data>(
  path: string,
  body: object = {},
  method: 'POST' | 'DELETE' = 'POST',
): Promise<Data> {
  return send<Data>(path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function send<Data>(path: string, init: RequestInit): Promise<Data> {
  const response = await fetch(base + path, { credentials: 'same-origin', ...init }).catch(
    (error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error
      throw new ApiError(
        0,
        'unreachable',
        'The server cannot be reached. Check the connection and try again.',
        null,
      )
    },
  )
  const envelope: Envelope<Data> = await response.json().catch(() => ({}))
  if (response.ok && envelope.data !== undefined) return envelope.data
  const { error, meta } = envelope
  const fields = Object.fromEntries((error?.details ?? []).map(({ field, message }) => [field, message]))
  const message = error?.message ?? 'The server gave an answer that makes no sense.'
  const failure = new ApiError(
    response.status,
    error?.code ?? 'unknown',
    message,
    meta?.requestId ?? null,
    fields,
  )
  if (failure.status === 401 && path !== '/sign-in') onSignedOut()
  throw failure
}

let onSignedOut = () => {}

/** Says what to do when the server no longer knows who this is. */
export function whenSignedOut(work: () => void): void {
  onSignedOut = work
}

/** An id as a part of a path. */
export const encode = encodeURIComponent
