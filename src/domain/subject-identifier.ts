import { hash } from 'node:crypto'
import { isWellFormedText } from './identifier.ts'
import type { Instant } from './instant.ts'

/** Identifies a subject outside its tracker, such as an e-mail address or customer number. */
export interface SubjectIdentifier {
  name: string
  value: string
}

/** An identifier with the instant of the newest row that contained it. */
export interface BroughtIdentifier extends SubjectIdentifier {
  broughtAt: Instant
}

export const identifierNamePattern = '^[a-z][A-Za-z0-9_]{0,31}$'
export const identifierNameRule = 'a small letter, then up to 31 letters, digits or underscores'
export const maxIdentifierValueLength = 256
export const identifierValuePattern = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'
export const identifierValueRule = `1 to ${maxIdentifierValueLength} characters, no control characters`
export const maxIdentifiersPerLine = 16
/** With these, the record of a subject is no larger than other responses. */
export const maxIdentifiersPerSubject = 1_000

const namePattern = new RegExp(identifierNamePattern)
const valuePattern = new RegExp(identifierValuePattern, 'u')

export function isIdentifierName(text: unknown): text is string {
  return typeof text === 'string' && namePattern.test(text)
}

export function isIdentifierValue(text: unknown): text is string {
  return isWellFormedText(text, valuePattern, maxIdentifierValueLength)
}

/**
 * Normalises a value for comparison: NFC, and lower case for e-mail addresses. Lower-casing can yield
 * decomposed letters, so addresses are normalised again.
 */
export function comparableValue({ name, value }: SubjectIdentifier): string {
  const composed = value.normalize('NFC')
  return name === 'email' ? composed.toLowerCase().normalize('NFC') : composed
}

/**
 * The key by which an organisation's identifiers are looked up: the first 16 bytes of SHA-256 over
 * organisation, name and comparable value. Subjects that share one belong to the same person.
 */
export function lookupKey(organisationId: string, identifier: SubjectIdentifier): Uint8Array {
  const text = `${organisationId}\0${identifier.name}\0${comparableValue(identifier)}`
  return hash('sha256', text, 'buffer').subarray(0, 16)
}

/** Whether `a` replaces `b`: the newer one, or at the same instant, the one with the greater bytes. */
export function isBroughtLater(
  a: Pick<BroughtIdentifier, 'value' | 'broughtAt'>,
  b: Pick<BroughtIdentifier, 'value' | 'broughtAt'>,
): boolean {
  if (a.broughtAt !== b.broughtAt) return a.broughtAt > b.broughtAt
  // Compares bytes as the engines do, so that order of arrival does not matter.
  return a.value !== b.value && Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)) > 0
}

export function sortIdentifiers(identifiers: SubjectIdentifier[]): SubjectIdentifier[] {
  return identifiers.sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
