import { isObject } from './api.ts'
import { type Budget, readBudgets } from './budget.ts'
import { ConnectionError, UnexpectedAnswerError } from './errors.ts'
import { readAnswer, receive } from './exchange.ts'
import type { Runtime } from './runtime.ts'
import type { JsonValue } from './variable-type.ts'

/** A request for the variables of a token. */
export interface VariablesRequest {
  fetch: typeof fetch
  /** The address of the service, without a slash at its end. */
  url: string
  token: string
  /** Of the last response. */
  etag: string | null
  timeoutMs: number
  signal: AbortSignal
}

export interface VariablesAnswer {
  /** `null` if nothing changed since the response with the given ETag. */
  content: { variables: Record<string, JsonValue>; version: number; etag: string | null } | null
  budgets: readonly Budget[]
}

/** Requests the variables once. Throws like `exchange`, but no error contains the token. */
export async function readVariables(
  { url, token, etag, ...rest }: VariablesRequest,
  { now }: Runtime,
): Promise<VariablesAnswer> {
  const withoutToken = (text: string) => text.replaceAll(token, 'lethevar_…')
  const headers = { accept: 'application/json', ...(etag !== null && { 'if-none-match': etag }) }
  const { response, text } = await receive(
    { ...rest, method: 'GET', url: `${url}/v1/variables?token=${token}`, headers },
    null,
  ).catch((error: unknown) => {
    // Some runtimes name the address in the message or in the cause.
    throw error instanceof ConnectionError ? new ConnectionError(withoutToken(error.reason), null) : error
  })
  const { status } = response
  if (status === 304 && etag !== null) return { content: null, budgets: readBudgets(response.headers) }
  const body = status === 200 ? text : withoutToken(text)
  const { data, meta, budgets } = readAnswer(response, body, null, now())
  if (!isVariables(data))
    throw new UnexpectedAnswerError(status, 'The response does not match the API.', meta.requestId)
  return { content: { ...data, etag: response.headers.get('etag') }, budgets }
}

function isVariables(value: unknown): value is { variables: Record<string, JsonValue>; version: number } {
  return isObject(value) && isObject(value.variables) && Number.isSafeInteger(value.version)
}
