import { ApiError } from './api.ts'
import { unexpected } from './resource.ts'
import type { PasskeyCreation, PasskeyRequest } from './types.ts'

/** Whether the browser has passkeys. Browsers have none on pages without TLS, except on localhost. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function'
}

/** Whether the console was opened at an IP address, for which there can be no passkey. */
export function hasIpAddress(): boolean {
  return /^\[|^[\d.]+$/.test(location.hostname)
}

/** Asks for a passkey. Throws an `ApiError` that says what to do if there is none. */
export async function askForPasskey(optionsJSON: PasskeyRequest): Promise<object> {
  const { startAuthentication } = await import('./passkey-script.ts')
  return startAuthentication({ optionsJSON }).catch(explain)
}

/** Makes a passkey. Throws as `askForPasskey`. */
export async function makePasskey(optionsJSON: PasskeyCreation): Promise<object> {
  const { startRegistration } = await import('./passkey-script.ts')
  return startRegistration({ optionsJSON }).catch(explain)
}

const explanations: Record<string, string> = {
  NotAllowedError: 'No passkey was used. Try again, or use something else.',
  AbortError: 'No passkey was used. Try again, or use something else.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this address. Open the console at its usual address.',
}

function explain(error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const message = cause instanceof Error ? explanations[cause.name] : undefined
  throw message === undefined ? unexpected(error) : new ApiError(0, 'passkey', message, null)
}
