import type { ActivityNote } from './activity.ts'
import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { Member, Role } from './member.ts'
import type { Organisation } from './organisation.ts'

/** An account at an identity provider. The provider never gives its subject to anyone else. */
export interface ProviderAccount {
  issuer: string
  subject: string
}

/** What a provider has said about a person, after every check of the protocol. */
export interface ProviderIdentity extends ProviderAccount {
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

/** A member with the account that they sign in with; `null` before the first time. */
export interface ConnectedMember {
  member: Member
  passwordHash: string | null
  account: ProviderAccount | null
}

/** An organisation that people with addresses of some domains may join. */
export interface OpenOrganisation {
  organisation: Pick<Organisation, 'id' | 'name'>
  role: Role
}

export interface SingleSignOnStore {
  /** Members with this account or this address, in every organisation or in one of them. */
  find(
    account: ProviderAccount,
    email: string | null,
    organisationId: string | null,
  ): Promise<ConnectedMember[]>
  /** The organisations that let addresses of a domain join, all or one of them. */
  findOpen(domain: string, organisationId: string | null): Promise<OpenOrganisation[]>
  /** `null` if the member has not signed in by single sign-on. */
  accountOf(memberId: string): Promise<ProviderAccount | null>
  /**
   * Connects a member with an account, and withdraws the link to set a first password. Returns `false` if the
   * member does not exist, or has another account meanwhile.
   */
  connect(member: Member, account: ProviderAccount, note: ActivityNote): Promise<boolean>
  /**
   * Adds a member who joins by single sign-on. Returns `false` if the organisation does not exist, or has a
   * member with this address or account.
   */
  join(member: Member, account: ProviderAccount, note: ActivityNote): Promise<boolean>
  /** Forgets the account of a member, and ends their sign-ins. Returns `false` if there is none. */
  disconnect(organisationId: string, memberId: string, note: ActivityNote): Promise<boolean>
}
