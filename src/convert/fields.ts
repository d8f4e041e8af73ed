import { hash } from 'node:crypto'
import { findLostNumber, isObject } from '../domain/json.ts'
import { isIdentifierValue } from '../domain/subject-identifier.ts'
import { type JsonObject, UnusableRecord } from './format.ts'

/** The JSON object in a text. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseExact(text, 'it')
  if (value === undefined) throw new UnusableRecord('not JSON')
  if (!isObject(value)) throw new UnusableRecord('not a JSON object')
  return value
}

/** The JSON value in a text, undefined if it is none. Throws `UnusableRecord` if a number would be lost. */
export function parseExact(text: string, field: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const lost = findLostNumber(text, value)
  if (lost !== null) throw new UnusableRecord(`${field} has ${lost}`)
  return value
}

/** A value as text: texts that are not empty, and numbers, as which some exports write IDs. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined
}

/** A text that a record must have. */
export function requiredText(value: unknown, field: string): string {
  const text = textOf(value)
  if (text === undefined) throw new UnusableRecord(`${field} is missing`)
  return text
}

/** The fields that are neither undefined, null nor empty texts. Undefined if there are none. */
export function presentFields(fields: JsonObject): JsonObject | undefined {
  const present = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  return present.length === 0 ? undefined : Object.fromEntries(present)
}

/** Some fields of a record, those that are present, under the names of `names`. */
export function pickFields(
  record: JsonObject,
  names: Readonly<Record<string, string>>,
): JsonObject | undefined {
  return presentFields(
    Object.fromEntries(Object.entries(names).map(([field, name]) => [name, record[field]])),
  )
}

const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/**
 * The identifiers of a person, and others by name: a user ID that looks like an e-mail address is an address.
 * Values that cannot be identifiers are left out. Undefined if there are none.
 */
export function identifiersOf(
  userId: unknown,
  email?: unknown,
  others: JsonObject = {},
): Readonly<Record<string, string>> | undefined {
  const id = textOf(userId)
  const isAddress = id !== undefined && address.test(id)
  const person = { userId: isAddress ? undefined : id, email: textOf(email) ?? (isAddress ? id : undefined) }
  const valid: [string, string][] = []
  for (const [name, value] of Object.entries({ ...person, ...others })) {
    const text = textOf(value)
    if (isIdentifierValue(text)) valid.push([name, text])
  }
  return valid.length === 0 ? undefined : Object.fromEntries(valid)
}

/** An ID for something to which its source gives none, the same for the same parts. */
export function deriveId(...parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)
}

/** A field that is an object, or its JSON text. Empty if it is absent. */
export function objectField(value: unknown, field: string): JsonObject {
  if (value === undefined || value === null || value === '') return {}
  const object = typeof value === 'string' ? parseExact(value, field) : value
  if (!isObject(object)) throw new UnusableRecord(`${field} is not an object`)
  return object
}
