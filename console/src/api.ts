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
  const response = await ask(path, init)
  const envelope: Envelope<Data> = await response.json().catch(() => ({}))
  if (response.ok && envelope.data !== undefined) return envelope.data
  const { error, meta } = envelope
  const fields = Object.fromEntries((error?.details ?? []).map(({ field, message }) => [field, message]))
  throw new ApiError(
    response.status,
    error?.code ?? 'unknown',
    error?.message ?? 'The server sent an invalid response.',
    meta?.requestId ?? null,
    fields,
  )
}

/** Sends a request; once more after a new sign-in where the one before was over. What somebody was about to do is not lost. */
async function ask(path: string, init: RequestInit): Promise<Response> {
  const response = await reach(path, init)
  if (response.status !== 401 || path === '/sign-in' || !(await signInAgain())) return response
  return reach(path, init)
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(base + path, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(
      0,
      'unreachable',
      'The server cannot be reached. Check your connection and try again.',
      null,
    )
  }
}

let signInAgain: () => Promise<boolean> = async () => false

/** Says what to do when the server no longer knows who this is. It tells whether it knows again. */
export function onSignedOut(work: () => Promise<boolean>): void {
  signInAgain = work
}

/** An id as a part of a path. */
export const encode = encodeURIComponent
