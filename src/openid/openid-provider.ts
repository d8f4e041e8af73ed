import type { ClientAuth, Configuration, CustomFetch } from 'openid-client'
import { LetheError } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { normaliseEmail } from '../domain/member.ts'
import { createToken, type Randomness } from '../domain/randomness.ts'
import {
  type IdentityProvider,
  type ProviderIdentity,
  providerUnreachable,
  type RoundTrip,
} from '../domain/single-sign-on.ts'

export interface OpenIdSettings {
  issuer: string
  clientId: string
  /** `null` for a public client. */
  clientSecret: string | null
  scopes: string
  name: string
  roleClaim: string | null
}

export interface OpenIdReports {
  /** The reason consists of identifiers of errors, and contains nothing that identifies a person. */
  onFailed(step: 'discovery' | 'sign-in', reason: string): void
}

interface OpenIdDeps extends OpenIdReports {
  clock: Clock
  randomness: Randomness
  timeoutMs?: number
}

type Claims = Readonly<Record<string, unknown>>

const clockToleranceSeconds = 30
/** Of each request to the provider; a round trip takes up to four of them. */
const defaultTimeoutMs = 5_000
/** How long the provider's metadata is used before it is read again. */
const metadataMs = 3_600_000

/** A provider of OpenID Connect. It is asked for its metadata when somebody signs in, not before. */
export function openIdProvider(
  settings: OpenIdSettings,
  { clock, randomness, onFailed, timeoutMs = defaultTimeoutMs }: OpenIdDeps,
): IdentityProvider {
  const { clientId, clientSecret, scopes, roleClaim } = settings
  const issuer = new URL(settings.issuer)
  let known: { configuration: Promise<Configuration>; since: Instant } | null = null

  /** Everybody who waits shares one request. A failed one is repeated by the next sign-in. */
  function configuration(): Promise<Configuration> {
    const now = clock()
    if (known !== null && Math.abs(now - known.since) < metadataMs) return known.configuration
    const reading = discover()
    known = { configuration: reading, since: now }
    reading.catch(() => {
      if (known?.configuration === reading) known = null
    })
    return reading
  }

  async function discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const execute = [client.enableNonRepudiationChecks]
    if (issuer.protocol === 'http:') execute.push(client.allowInsecureRequests)
    try {
      const found = await client.discovery(
        issuer,
        clientId,
        { [client.clockTolerance]: clockToleranceSeconds },
        await authentication(clientSecret),
        { timeout: timeoutMs / 1_000, execute, [client.customFetch]: boundedFetch },
      )
      // An issuer for all tenants of a vendor would let any of them state any address.
      if (found.serverMetadata().issuer.includes('{')) throw new Error('The issuer is not a single one.')
      return found
    } catch (error) {
      onFailed('discovery', failureReason(error))
      throw providerUnreachable()
    }
  }

  /** The claims of the ID token, and those of the user info that it lacks. */
  async function claimsOf(trip: RoundTrip, query: string): Promise<[idToken: Claims, userInfo: Claims]> {
    const client = await import('openid-client')
    const provider = await configuration()
    const address = new URL(trip.redirectUri)
    address.search = query
    const tokens = await client.authorizationCodeGrant(provider, address, {
      expectedState: trip.state,
      expectedNonce: trip.nonce,
      pkceCodeVerifier: trip.codeVerifier,
      idTokenExpected: true,
      ...(trip.maxAgeSeconds !== null && { maxAge: trip.maxAgeSeconds }),
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('The provider sent no ID token.')
    const hasRoles = roleClaim === null || claimAt(claims, roleClaim) !== undefined
    const isComplete = hasAddress(claims) && hasRoles
    if (isComplete || provider.serverMetadata().userinfo_endpoint === undefined) return [claims, {}]
    // Many providers state the address and the groups only there.
    return [claims, await client.fetchUserInfo(provider, tokens.access_token, claims.sub)]
  }

  return {
    name: settings.name,
    async begin(redirectUri, maxAgeSeconds) {
      const provider = await configuration()
      const client = await import('openid-client')
      const trip: RoundTrip = {
        state: createToken(randomness),
        nonce: createToken(randomness),
        codeVerifier: createToken(randomness),
        ...{ redirectUri, maxAgeSeconds },
      }
      const address = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: scopes,
        state: trip.state,
        nonce: trip.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(trip.codeVerifier),
        code_challenge_method: 'S256',
        ...(maxAgeSeconds !== null && { prompt: 'login', max_age: String(maxAgeSeconds) }),
        // Otherwise, some providers only state it if `max_age` is sent.
        ...(provider.serverMetadata().claims_parameter_supported === true && {
          claims: '{"id_token":{"auth_time":null}}',
        }),
      })
      return { address: address.href, trip }
    },
    async finish(trip, query) {
      try {
        return identityOf(...(await claimsOf(trip, query)), settings)
      } catch (error) {
        if (error instanceof LetheError) throw error
        onFailed('sign-in', failureReason(error))
        throw isUnreachable(error) ? providerUnreachable() : notAccepted()
      }
    },
  }
}

function notAccepted(): LetheError {
  return new LetheError(
    'unauthorized',
    'Single sign-on did not succeed: the identity provider refused, or its answer is not valid. Try again.',
  )
}

/** Only identifiers: a message, a claim's value or a URL could contain an address, a code or a token. */
const identifier = /^[A-Za-z0-9_.-]{1,64}$/

/**
 * The reason of a failure for the log: the library's or the system's code, the error that the provider named,
 * and the claim or attribute that was not as expected.
 */
function failureReason(error: unknown): string {
  const causes = [error, field(error, 'cause'), field(field(error, 'cause'), 'cause')]
  const found = causes.flatMap((cause) =>
    ['code', 'error', 'claim', 'attribute'].map((key) => field(cause, key)),
  )
  const names = found.filter((each): each is string => typeof each === 'string' && identifier.test(each))
  return [...new Set(names)].join(' ') || (error instanceof Error ? error.name : 'unknown')
}

/** Whether no answer came, or one that says that the provider failed, rather than an unacceptable one. */
function isUnreachable(error: unknown): boolean {
  const code = field(error, 'code')
  const status = field(field(error, 'cause'), 'status')
  const hasFailed = typeof status === 'number' && status >= 500
  return error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || hasFailed
}

/** The field `key` of an error or another object. */
function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/** The provider says which method it supports. One that does not say supports the first. */
async function authentication(secret: string | null): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, None } = await import('openid-client')
  if (secret === null) return None()
  const [inHeader, inBody] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? inHeader : inBody
    authenticate(server, ...request)
  }
}

function identityOf(idToken: Claims, userInfo: Claims, { roleClaim }: OpenIdSettings): ProviderIdentity {
  // The issuer as the provider spells it: the settings may have one slash more, or less.
  const { iss: issuer, sub, auth_time: time } = idToken
  if (typeof issuer !== 'string') throw new Error('The ID token has no issuer.')
  if (typeof sub !== 'string' || sub === '') throw new Error('The ID token has no subject.')
  // An address is only as verified as the answer that states it.
  const source = hasAddress(userInfo) && !hasAddress(idToken) ? userInfo : idToken
  const roles = roleClaim && (claimAt(idToken, roleClaim) ?? claimAt(userInfo, roleClaim))
  return {
    issuer,
    subject: sub,
    email: typeof source.email === 'string' ? normaliseEmail(source.email) : null,
    isVerified: isVerified(source),
    roleValues: textsIn(roles),
    authenticatedAt: typeof time === 'number' ? time * 1_000 : null,
  }
}

/** Whether they state an address, and whether it is verified. */
function hasAddress({ email, email_verified: verified, xms_edov: ownsDomain }: Claims): boolean {
  return email !== undefined && (verified !== undefined || ownsDomain !== undefined)
}

/** Microsoft Entra ID has a claim of its own, which says that the tenant owns the domain of the address. */
function isVerified({ email_verified: verified, xms_edov: ownsDomain }: Claims): boolean {
  return verified === true || [true, 1, '1', 'true'].some((value) => value === ownsDomain)
}

/** A claim by its name, or by a path such as `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = Reflect.get(found, part)
  }
  return found
}

function textsIn(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((each): each is string => typeof each === 'string')
}

/** More than any provider's metadata, keys or tokens need. */
const maxBytes = 1024 * 1024

/** `fetch` for responses that are read completely, and are refused above a megabyte. */
const boundedFetch: CustomFetch = async (url, { body, ...init }) => {
  const response = await fetch(url, { ...init, body: body ? String(body) : null })
  if (response.body === null) return response
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    // Leaving the loop cancels the rest.
    if (bytes > maxBytes) throw new TypeError('The response of the identity provider is too large.')
    chunks.push(chunk)
  }
  const { status, headers } = response
  return new Response(Buffer.concat(chunks), { status, headers })
}
