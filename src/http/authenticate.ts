import type { Caller } from '../domain/api-key.ts'
import { LetheError } from '../domain/errors.ts'
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts'
import type { Services } from '../domain/services.ts'
import type { VariableReader } from '../domain/variable-token.ts'
import { authenticateKey } from '../operations/api-key.ts'
import { authenticateMember } from '../operations/sign-in.ts'
import { authenticateVariableToken } from '../operations/variable-token.ts'
import type { OriginPolicy } from './client-address.ts'
import { readCookie } from './console/sign-in-cookie.ts'
import {
  batchOf,
  hasBearerToken,
  type RequestBatch,
  type RequestContext,
  readBearerToken,
} from './request-context.ts'

export interface AuthenticationDeps {
  services: Services
  originPolicy: OriginPolicy
  noteKeyUse(keyId: string): void
  noteTokenUse(tokenId: string): void
}

/** The steps that find who sent a request, by its credential. Each refuses a request without a valid one. */
export function authentication({ services, originPolicy, noteKeyUse, noteTokenUse }: AuthenticationDeps) {
  return { key: authenticateCaller, token: authenticateReader, member: requireMember }

  function authenticateCaller(context: RequestContext): MaybePromise<LetheError | null> {
    const { authorization } = context.request.headers
    if (!hasBearerToken(authorization)) return noKey
    return andThen(findCaller(authorization, batchOf(context)), (caller) => {
      if (caller === null) return invalidKey
      noteKeyUse(caller.key.id)
      context.caller = caller
      return null
    })
  }

  function findCaller(authorization: string, { callers }: RequestBatch): MaybePromise<Caller | null> {
    const known = callers.get(authorization)
    if (known !== undefined) return known
    const keyString = readBearerToken(authorization)
    const caller = keyString === undefined ? null : authenticateKey(services, keyString)
    callers.set(authorization, caller)
    return caller
  }

  function authenticateReader(context: RequestContext): MaybePromise<LetheError | null> {
    const { values, repeated } = context.query
    if (repeated.has('token')) return severalTokens
    const token = values.get('token')
    if (token === undefined || token === '') return noToken
    return andThen(findReader(token, batchOf(context)), (reader) => {
      if (reader === null) return invalidToken
      noteTokenUse(reader.tokenId)
      context.reader = reader
      return null
    })
  }

  function findReader(token: string, { readers }: RequestBatch): MaybePromise<VariableReader | null> {
    const known = readers.get(token)
    if (known !== undefined) return known
    const reader = authenticateVariableToken(services, token)
    readers.set(token, reader)
    return reader
  }

  function requireMember(context: RequestContext): MaybePromise<LetheError | null> {
    const token = readCookie(context.request, 'console', originPolicy.isSecure(context.request))
    if (token === null) return signedOut
    return authenticateMember(services, token).then((found) => {
      context.signedIn = found
      return found === null ? signedOut : null
    })
  }
}

// Created once, because a flood of requests is refused for the same reason.
const noKey = new LetheError(
  'unauthorized',
  'No API key was sent. Send it in the header Authorization: Bearer <API_KEY>.',
)
const invalidKey = new LetheError('unauthorized', 'This is not a valid API key.')
const noToken = new LetheError(
  'unauthorized',
  'No variable token was sent. Send it in the query: /v1/variables?token=<TOKEN>.',
)
// Which of them counts would depend on their order.
const severalTokens = new LetheError('validation_error', 'Check token: see details.', [
  { field: 'token', message: 'token must be given once' },
])
const invalidToken = new LetheError('unauthorized', 'This is not a valid variable token.')
const signedOut = new LetheError(
  'unauthorized',
  'You are not signed in, or your session has expired. Sign in and try again.',
)
