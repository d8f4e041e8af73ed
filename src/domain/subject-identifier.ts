import { hash } from 'node:crypto'
import { isWellFormedText } from './identifier.ts'
import type { Instant } from './instant.ts'

/** Something a subject is known by outside of its tracker: an e-mail address, the number of a customer. */
export interface SubjectIdentifier {
  name: string
  value: string
}

/** An identifier as it was collected, with the instant of the newest row that brought it. */
export interface BroughtIdentifier extends SubjectIdentifier {
  broughtAt: Instant
}

export const identifierNamePattern = '^[a-z][A-Za-z0-9_]{0,31}$'
export const identifierNameRule = 'a small letter, then up to 31 letters, digits or underscores'
export const maxIdentifierValueLength = 256
export const identifierValuePattern = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'
export const identifierValueRule = `1 to ${maxIdentifierValueLength} characters, no control characters`
export const maxIdentifiersPerLine = 16

const namePattern = new RegExp(identifierNamePattern)
const valuePattern = new RegExp(identifierValuePattern, 'u')

export function isIdentifierName(text: unknown): text is string {
  return typeof text === 'string' && namePattern.test(text)
}

export function isIdentifierValue(text: unknown): text is string {
  return isWellFormedText(text, valuePattern, maxIdentifierValueLength)
}

/**
 * What a value is compared by, in NFC: an e-mail address without regard to case, any other value exactly. The same on every engine. Some
 * letters are one character only in lower case, so an address is normalised again.
 */
export function comparableValue({ name, value }: SubjectIdentifier): string {
  const composed = value.normalize('NFC')
  return name === 'email' ? composed.toLowerCase().normalize('NFC') : composed
}

/**
 * What an identifier is found by within an organisation: the first 16 bytes of SHA-256 over organisation, name and comparable value,
 * which hold no control characters. Two subjects of one organisation with the same are the same person.
 */
export function lookupKey(organisationId: string, identifier: SubjectIdentifier): Uint8Array {
  const text = `${organisationId}\0${identifier.name}\0${comparableValue(identifier)}`
  return hash('sha256', text, 'buffer').subarray(0, 16)
}

/** Which of two ways to bring an identifier counts: the newer; of the same instant, the one written with the greater bytes. */
export function isBroughtLater(
  a: Pick<BroughtIdentifier, 'value' | 'broughtAt'>,
  b: Pick<BroughtIdentifier, 'value' | 'broughtAt'>,
): boolean {
  if (a.broughtAt !== b.broughtAt) return a.broughtAt > b.broughtAt
  // As engines compare text, so that no order matters.
  return a.value !== b.value && Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)) > 0
}

/** Identifiers in the order in which they are shown. */
export function inOrder(identifiers: SubjectIdentifier[]): SubjectIdentifier[] {
  return identifiers.sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
