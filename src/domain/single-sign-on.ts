import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'

/** What a provider has said about a person, after every check of the protocol. */
export interface ProviderIdentity {
  issuer: string
  /** Identifies the person at the issuer, and is never given to anyone else. */
  subject: string
  /** In lower case; `null` if the provider did not state one. */
  email: string | null
  /** Whether the provider says that the address belongs to the person. */
  isVerified: boolean
  /** The values of the claim that maps to roles; empty if none is configured. */
  roleValues: readonly string[]
  /** When the person last proved to the provider who they are; `null` if it did not say. */
  authenticatedAt: Instant | null
}

/** What finishing a round trip needs, which is kept in the store meanwhile. */
export interface RoundTrip {
  state: string
  nonce: string
  codeVerifier: string
  redirectUri: string
  /** The oldest proof that is accepted; `null` for any. */
  maxAgeSeconds: number | null
}

/** The identity provider of this installation. */
export interface IdentityProvider {
  /** What its button says. */
  readonly name: string
  /**
   * The address to send the browser to. With `maxAgeSeconds`, the provider asks the person to prove who they
   * are. Throws `providerUnreachable` if the provider does not respond in time.
   */
  begin(redirectUri: string, maxAgeSeconds: number | null): Promise<{ address: string; trip: RoundTrip }>
  /**
   * Checks the query with which the browser came back. Throws `providerUnreachable`, or `unauthorized` if the
   * provider's answer is not acceptable.
   */
  finish(trip: RoundTrip, query: string): Promise<ProviderIdentity>
}

/** How long a person has to sign in at the provider. */
export const roundTripMs = 10 * 60_000

export function providerUnreachable(): LetheError {
  return new LetheError(
    'internal_error',
    'The identity provider cannot be reached. Try again later, or sign in another way.',
  )
}
