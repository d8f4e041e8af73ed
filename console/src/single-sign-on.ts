import { change } from './api.ts'
import type { RoundTrip } from './types.ts'

/** The page to which the identity provider sends the browser back. */
export const returnPath = '/console/single-sign-on'

/** Why the browser is at the provider: to sign in, or for a page in another tab that waits. */
export type Purpose = { to: string } | { for: 'sign-in' | 'verification' }

// Survives the round trip in this tab only. Addresses may contain IDs of people, which must not be kept.
const stored = 'lethe-single-sign-on'

/** Leaves for the provider. Throws an `ApiError` if it cannot be reached. */
export async function goToProvider(purpose: Purpose, organisationId = ''): Promise<void> {
  const isVerification = 'for' in purpose && purpose.for === 'verification'
  const { address } = isVerification
    ? await change<RoundTrip>('/verification/single-sign-on')
    : await change<RoundTrip>('/single-sign-on', organisationId === '' ? {} : { organisationId })
  sessionStorage.setItem(stored, JSON.stringify(purpose))
  location.assign(address)
}

/** Why the browser was at the provider. */
export function purposeOfReturn(): Purpose {
  try {
    const purpose: Partial<Record<string, unknown>> = JSON.parse(sessionStorage.getItem(stored) ?? '{}')
    if (purpose.for === 'sign-in' || purpose.for === 'verification') return { for: purpose.for }
    if (typeof purpose.to === 'string') return { to: purpose.to }
  } catch {
    // Somebody else's text.
  }
  return { to: '/console' }
}

export function forgetPurpose(): void {
  sessionStorage.removeItem(stored)
}
