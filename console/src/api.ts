/** An error response, or a request that got no response. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  /** Problems by field name. */
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

  /** The problems as sentences, or the message if there are none. */
  get texts(): string[] {
    const problems = Object.values(this.fields).map(asSentence)
    return problems.length > 0 ? problems : [this.message]
  }
}

/** The message of a problem, which begins with the name of a field, as a sentence. */
export function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

interface Envelope<Data> {
  data?: Data
  error?: { code: string; message: string; details?: { field: string; message: string }[] }
  meta?: { requestId: string }
}

const base = '/console/api'

/** Fetches a path; throws an `ApiError` if that fails. */
export function read<Data>(path: string, signal?: AbortSignal): Promise<Data> {
  return send<Data>(path, { signal: signal ?? null })
}

/** Sends a change to the server; throws an `ApiError` if that fails. */
export function change<Data>(
  path: string,
  body: object = {},
  method: 'POST' | 'DELETE' = 'POST',
): Promise<Data> {
  return send<Data>(path, { method, ...inJson(body) })
}

/** Reads something whose question belongs in no URL; throws an `ApiError` if that fails. */
export function ask<Data>(path: string, body: object, signal: AbortSignal): Promise<Data> {
  return send<Data>(path, { method: 'POST', ...inJson(body), signal })
}

function inJson(body: object): Pick<RequestInit, 'headers' | 'body'> {
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

async function send<Data>(path: string, init: RequestInit): Promise<Data> {
  const response = await sendSignedIn(path, init)
  const envelope: Envelope<Data> = await response
    .text()
    .then(JSON.parse)
    .catch(() => ({}))
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

/** Sends a request, and sends it again after a new sign-in or a proof of identity if it needs one. */
async function sendSignedIn(path: string, init: RequestInit): Promise<Response> {
  const response = await fetchResponse(path, init)
  if (response.status === 403) noteForbidden()
  if (response.status !== 401 || path.startsWith('/sign-in/') || path === '/sign-in') return response
  const needsProof = response.headers.get('www-authenticate')?.includes('insufficient_user_authentication')
  return (await (needsProof ? verify() : signInAgain())) ? fetchResponse(path, init) : response
}

/** Changes without a response yet. Each may renew the token of the session. */
const changing = new Set<Promise<Response>>()

/** Whether there is a session: its token may have been renewed while a request was on its way. */
export async function isSignedIn(): Promise<boolean> {
  await Promise.allSettled(changing)
  return (await fetchResponse('/session', {})).ok
}

async function fetchResponse(path: string, init: RequestInit): Promise<Response> {
  const fetched = fetch(base + path, { credentials: 'same-origin', ...init })
  if (init.method !== undefined) changing.add(fetched)
  try {
    return await fetched
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(
      0,
      'unreachable',
      'The server cannot be reached. Check your connection and try again.',
      null,
    )
  } finally {
    changing.delete(fetched)
  }
}

let signInAgain: () => Promise<boolean> = async () => false

/** Sets what to do when the session has expired. It resolves to whether the member has signed in again. */
export function onSignedOut(work: () => Promise<boolean>): void {
  signInAgain = work
}

let noteForbidden = () => {}

/** Sets what to do when a request needs another role: the member's may have changed. */
export function onForbidden(work: () => void): void {
  noteForbidden = work
}

let verify: () => Promise<boolean> = async () => false

/** Sets what to do when a request needs a recent proof of identity; it resolves to whether there is one. */
export function onVerification(work: () => Promise<boolean>): void {
  verify = work
}

/** Encodes an ID as a path segment. */
export const encode = encodeURIComponent
