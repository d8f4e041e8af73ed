import { commandLine, type Origin } from '../domain/activity.ts'
import { credentialIdLength, hashCredential, proveCredential } from '../domain/credential.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts'
import { checkName, requireTypedName } from '../domain/organisation.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import {
  createTokenString,
  maxTokenNameLength,
  readTokenId,
  tokenNotActive,
  type VariableReader,
  type VariableToken,
  type VariableTokenStore,
} from '../domain/variable-token.ts'
import { activityNote } from './activity.ts'
import { requireTracker } from './tracker.ts'

interface TokenDeps {
  variableTokens: VariableTokenStore
  clock: Clock
  randomness: Randomness
  journal?: Journal | undefined
}

/** A token with its string, which is shown only once. */
export interface IssuedToken {
  token: VariableToken
  tokenString: string
}

/** Throws `validation_error` for an invalid or taken name, and `not_found` if the tracker is not visible. */
export async function createVariableToken(
  deps: TokenDeps & { trackers: TrackerStore },
  { trackerId, name }: Pick<VariableToken, 'trackerId' | 'name'>,
  origin: Origin = commandLine,
): Promise<IssuedToken> {
  const problems = new Problems()
  checkName(name, maxTokenNameLength, problems)
  problems.throwIfAny()
  const { organisationId } = await requireTracker(deps, trackerId, origin)
  const id = deps.randomness.base62(credentialIdLength)
  const tokenString = createTokenString(id, deps.randomness)
  const { hash, lastFour } = proveCredential(tokenString)
  const token: VariableToken = {
    ...{ id, trackerId, name, lastFour, createdAt: deps.clock() },
    ...{ rotatedAt: null, revokedAt: null, lastUsedAt: null },
  }
  const note = activityNote(deps, origin, { organisationId, kind: 'variable-token.created', target: name })
  const outcome = await deps.variableTokens.create({ organisationId, trackerId }, token, hash, note)
  if (outcome === 'absent') throw notFound('This tracker')
  if (outcome === 'taken') problems.add('name', `the tracker already has an active token named "${name}"`)
  problems.throwIfAny()
  return { token, tokenString }
}

/** All tokens of a tracker in any state, oldest first. Throws `not_found` if the tracker is not visible. */
export async function listVariableTokens(
  deps: { trackers: TrackerStore; variableTokens: VariableTokenStore },
  trackerId: string,
  origin: Origin = commandLine,
): Promise<VariableToken[]> {
  await requireTracker(deps, trackerId, origin)
  return deps.variableTokens.list(trackerId)
}

/** Replaces a token's string, effective immediately. Throws `invalid_request` if the token is revoked. */
export async function rotateVariableToken(
  deps: TokenDeps,
  id: string,
  origin: Origin = commandLine,
): Promise<IssuedToken> {
  const { organisationId, name } = await requireVariableToken(deps, id, origin)
  const tokenString = createTokenString(id, deps.randomness)
  const proof = proveCredential(tokenString)
  const note = activityNote(deps, origin, { organisationId, kind: 'variable-token.rotated', target: name })
  const at = await deps.variableTokens.rotate(id, proof, deps.clock(), note)
  const token = await requireVariableToken(deps, id)
  if (at === null) throw tokenNotActive(token)
  await deps.journal?.append([{ kind: 'rotation', credential: 'variable-token', id, at, ...proof }])
  return { token, tokenString }
}

/** Throws `validation_error` unless `typedName` is its name, `invalid_request` if the token is revoked. */
export async function revokeVariableToken(
  deps: TokenDeps,
  id: string,
  typedName: string,
  origin: Origin = commandLine,
): Promise<VariableToken> {
  const now = deps.clock()
  const { name, organisationId } = await requireVariableToken(deps, id, origin)
  requireTypedName(typedName, name, 'token', 'revoked')
  const note = activityNote(deps, origin, { organisationId, kind: 'variable-token.revoked', target: name })
  const isRevoked = await deps.variableTokens.revoke(id, now, note)
  const token = await requireVariableToken(deps, id)
  if (!isRevoked) throw tokenNotActive(token)
  await deps.journal?.append([{ kind: 'revocation', credential: 'variable-token', id, at: now }])
  return token
}

/** `null` if the string is malformed, unknown, replaced or revoked. */
export function authenticateVariableToken(
  { variableTokens }: { variableTokens: VariableTokenStore },
  tokenString: string,
): MaybePromise<VariableReader | null> {
  const id = readTokenId(tokenString)
  if (id === null) return null
  // Timing reveals at most how two hashes begin, and nobody can choose a hash.
  return andThen(variableTokens.findReader(id), (found) =>
    found !== null && found.hash === hashCredential(tokenString) ? found : null,
  )
}

/** Throws `not_found` if the token does not exist or belongs to another organisation. */
export async function requireVariableToken(
  { variableTokens }: { variableTokens: VariableTokenStore },
  id: string,
  { organisationId }: Origin = commandLine,
): Promise<VariableToken & { organisationId: string }> {
  const token = await variableTokens.find(id)
  if (organisationId !== null && token?.organisationId !== organisationId) throw notFound('This token')
  if (token === null) throw new LetheError('not_found', `There is no variable token "${id}".`)
  return token
}
