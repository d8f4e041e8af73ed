import type { Passkey, RelyingParty } from '../domain/passkey.ts'

// The ceremonies of WebAuthn: what a browser is asked, and whether its answer is right.

/** Loaded when it is needed first, because it takes a third of a second. */
const library = () => import('@simplewebauthn/server')

/** Ed25519, ECDSA with P-256 and RSA with SHA-256: every authenticator has one of them. */
const algorithms = [-8, -7, -257]
const timeoutMs = 5 * 60_000

/** What a browser asks an authenticator for, to make a passkey. */
export interface RegistrationOptions {
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  challenge: string
  pubKeyCredParams: { alg: number; type: 'public-key' }[]
  timeout: number
  attestation: 'none'
  excludeCredentials: CredentialDescriptor[]
  authenticatorSelection: { residentKey: 'required'; userVerification: 'required' }
}

/** What a browser asks an authenticator for, to sign in. */
export interface RequestOptions {
  rpId: string
  challenge: string
  timeout: number
  userVerification: 'required'
  /** Empty if any passkey of the relying party will do. */
  allowCredentials: CredentialDescriptor[]
}

interface CredentialDescriptor {
  id: string
  type: 'public-key'
  transports: string[]
}

export interface RegistrationResponse {
  id: string
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] }
}

export interface AuthenticationResponse {
  id: string
  response: {
    clientDataJSON: string
    authenticatorData: string
    signature: string
    userHandle?: string
  }
}

/** The token of a challenge in the form in which browsers sign it. */
function toChallenge(token: string): string {
  return Buffer.from(token).toString('base64url')
}

/** The token of the challenge that a response answers; `null` for a response without one. */
export function challengeToken({ response }: RegistrationResponse | AuthenticationResponse): string | null {
  const data = clientDataOf(response.clientDataJSON)
  return typeof data?.challenge === 'string' ? Buffer.from(data.challenge, 'base64url').toString() : null
}

function clientDataOf(clientDataJSON: string): Record<string, unknown> | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    return typeof data === 'object' && data !== null ? { ...data } : null
  } catch {
    return null
  }
}

/** The ID of a member that an authenticator stores, which names nobody. */
function userHandle(memberId: string): string {
  return Buffer.from(memberId).toString('base64url')
}

export function registrationOptions(
  token: string,
  { id }: RelyingParty,
  member: { id: string; email: string },
  existing: readonly Passkey[],
): RegistrationOptions {
  return {
    rp: { id, name: 'Lethe' },
    user: { id: userHandle(member.id), name: member.email, displayName: member.email },
    challenge: toChallenge(token),
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
    timeout: timeoutMs,
    attestation: 'none',
    excludeCredentials: existing.map(descriptor),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  }
}

export function requestOptions(
  token: string,
  { id }: RelyingParty,
  passkeys: readonly Passkey[],
): RequestOptions {
  return {
    rpId: id,
    challenge: toChallenge(token),
    timeout: timeoutMs,
    userVerification: 'required',
    allowCredentials: passkeys.map(descriptor),
  }
}

function descriptor({ id, transports }: Passkey): CredentialDescriptor {
  return { id, type: 'public-key', transports: [...transports] }
}

/** The passkey that a browser has made; `null` if its response is not right. */
export async function checkRegistration(
  { id, response }: RegistrationResponse,
  token: string,
  { id: rpId, origin }: RelyingParty,
): Promise<Omit<Passkey, 'memberId' | 'name' | 'createdAt' | 'lastUsedAt'> | null> {
  const { verifyRegistrationResponse } = await library()
  const { transports = [], clientDataJSON, attestationObject } = response
  const whole = { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
  const found = await verifyRegistrationResponse({
    response: { ...whole, response: { clientDataJSON, attestationObject } },
    expectedChallenge: toChallenge(token),
    expectedOrigin: origin,
    expectedRPID: rpId,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => null)
  if (!found?.verified || isFramed(clientDataJSON)) return null
  const { credential, credentialDeviceType, credentialBackedUp } = found.registrationInfo
  return {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    signCount: credential.counter,
    transports,
    deviceType: credentialDeviceType,
    isBackedUp: credentialBackedUp,
  }
}

/**
 * `copied` if the passkey's counter went back: another device has used it. `null` if the response is not
 * right for another reason.
 */
export async function checkAuthentication(
  { id, response }: AuthenticationResponse,
  token: string,
  { id: rpId, origin }: RelyingParty,
  passkey: Passkey,
): Promise<{ signCount: number } | 'copied' | null> {
  const { verifyAuthenticationResponse } = await library()
  const whole = { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
  const found = await verifyAuthenticationResponse({
    response: { ...whole, response },
    expectedChallenge: toChallenge(token),
    expectedOrigin: origin,
    expectedRPID: rpId,
    // The counter is compared below, after the signature: only the passkey itself may accuse it.
    credential: { id: passkey.id, publicKey: Buffer.from(passkey.publicKey, 'base64url'), counter: 0 },
  }).catch(() => null)
  const handle = response.userHandle
  if (!found?.verified || isFramed(response.clientDataJSON)) return null
  if (handle !== undefined && handle !== userHandle(passkey.memberId)) return null
  const { newCounter } = found.authenticationInfo
  const isCounted = newCounter > 0 || passkey.signCount > 0
  return isCounted && newCounter <= passkey.signCount ? 'copied' : { signCount: newCounter }
}

/** Whether a page of another site showed the console's. */
function isFramed(clientDataJSON: string): boolean {
  return clientDataOf(clientDataJSON)?.crossOrigin === true
}
