import { proofKinds } from '../../domain/second-factor.ts'
import { integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'

// What browsers and authenticators exchange, as WebAuthn names it.

const base64url = (maxLength: number) => text({ maxLength, pattern: '^[\\w-]+$' })
const maxTransports = 8

const Descriptor = object({ id: text(), type: oneOf(['public-key']), transports: list(text()) })

export const PasskeyRequest = object(
  {
    ...{ rpId: text(), challenge: text(), timeout: integer(), userVerification: oneOf(['required']) },
    allowCredentials: list(Descriptor),
  },
  { title: 'PasskeyRequest' },
)

export const PasskeyCreation = object(
  {
    rp: object({ id: text(), name: text() }),
    user: object({ id: text(), name: text(), displayName: text() }),
    ...{ challenge: text(), timeout: integer(), attestation: oneOf(['none']) },
    pubKeyCredParams: list(object({ alg: integer(), type: oneOf(['public-key']) })),
    excludeCredentials: list(Descriptor),
    authenticatorSelection: object({
      residentKey: oneOf(['required']),
      userVerification: oneOf(['required']),
    }),
  },
  { title: 'PasskeyCreation' },
)

export const madePasskey = object(
  {
    id: base64url(1_400),
    response: object({
      clientDataJSON: base64url(20_000),
      attestationObject: base64url(100_000),
      transports: optional(list(text({ maxLength: 40 }), { maxItems: maxTransports })),
    }),
  },
  { 'x-rule': 'what the browser returned for a new passkey' },
)

export const passkeyAnswer = object(
  {
    id: base64url(1_400),
    response: object({
      clientDataJSON: base64url(20_000),
      authenticatorData: base64url(20_000),
      signature: base64url(10_000),
      userHandle: optional(base64url(200)),
    }),
  },
  { 'x-rule': 'what the browser returned for a passkey' },
)

/** Asks for a proof of identity: the page shows the kinds that are possible. */
export const ProofPrompt = object(
  { token: text(), proofs: list(oneOf(proofKinds)), passkey: orNull(PasskeyRequest) },
  { title: 'ProofPrompt' },
)

export const code = text({ minLength: 1, maxLength: 100, 'x-rule': 'a one-time code or a recovery code' })
