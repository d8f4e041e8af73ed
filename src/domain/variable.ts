import { hash } from 'node:crypto'
import type { ActivityNote, Actor } from './activity.ts'
import type { Problems } from './errors.ts'
import type { Instant } from './instant.ts'
import { InvalidJson, isObject, parseJson } from './json.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { TrackerRef } from './tracker.ts'

// Variables are remote config: JSON values by name, for each tracker. Every change adds a version that holds
// all of them, so that a reader sees a consistent set and any of the last versions can be restored.

/** JSON values by name. */
export type Variables = ReadonlyMap<string, unknown>

export interface VariableSet {
  /** 0 before the first change. */
  version: number
  /** A JSON object without whitespace, its names in order. */
  document: string
  /** Identifies version and document. */
  digest: string
}

export interface VariableVersion {
  version: number
  changedAt: Instant
  actor: Actor
  /** How many variables the change added, changed and removed. */
  added: number
  changed: number
  removed: number
}

export interface VariableStore {
  /** The current variables of a tracker. */
  current(trackerId: string): MaybePromise<VariableSet>
  /** `null` if the version is not kept, or never existed. */
  find(trackerId: string, version: number): Promise<VariableSet | null>
  /** The versions that are kept, newest first. */
  listVersions(trackerId: string): Promise<VariableVersion[]>
  /**
   * Adds a version with its `note` and deletes the oldest ones. Returns `stale` unless it follows the current
   * version, and `absent` if the tracker is not visible.
   */
  add(
    tracker: TrackerRef,
    version: VariableVersion,
    set: VariableSet,
    note: ActivityNote,
  ): Promise<'added' | 'stale' | 'absent'>
}

/** How many versions are kept. */
export const keptVersions = 20
export const maxVariables = 1_000
export const maxValueBytes = 64 * 1024
/** No response except an export is larger. */
export const maxDocumentBytes = 1024 * 1024
export const maxValueDepth = 32
export const variableNamePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

export const noVariables: VariableSet = variableSet(0, new Map())

export function variableSet(version: number, variables: Variables): VariableSet {
  const document = formatVariables(variables)
  return { version, document, digest: hash('sha256', `${version}\n${document}`, 'hex') }
}

/** A JSON object, without whitespace and with names in order unless `space` is given for people. */
export function formatVariables(variables: Variables, space?: number): string {
  const sorted = [...variables].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(Object.fromEntries(sorted), null, space)
}

/** Reads a document that was checked before. */
export function readVariables(document: string): Variables {
  return new Map(Object.entries<unknown>(JSON.parse(document)))
}

/** Reads a JSON object of variables that people wrote. Adds a problem and returns `null` if it is none. */
export function parseVariables(text: string, problems: Problems): Variables | null {
  try {
    const value = parseJson(text)
    if (isObject(value)) return new Map(Object.entries(value))
    problems.add('variables', 'variables must be a JSON object of values by name')
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    problems.add('variables', error.message)
  }
  return null
}

/** Whether two values are the same JSON, apart from the order of members. */
function isSameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b))
}

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, ordered(each)]),
  )
}

export type VariableChange =
  | { kind: 'added'; name: string; after: unknown }
  | { kind: 'changed'; name: string; before: unknown; after: unknown }
  | { kind: 'removed'; name: string; before: unknown }

/** In the order of names. */
export function compareVariables(before: Variables, after: Variables): VariableChange[] {
  const changes: VariableChange[] = []
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [was, is] = [before.get(name), after.get(name)]
    if (!after.has(name)) changes.push({ kind: 'removed', name, before: was })
    else if (!before.has(name)) changes.push({ kind: 'added', name, after: is })
    else if (!isSameValue(was, is)) changes.push({ kind: 'changed', name, before: was, after: is })
  }
  return changes
}

/** Adds a problem for each variable that is invalid, and for too many of them. */
export function checkVariables(variables: Variables, problems: Problems): void {
  if (variables.size > maxVariables) {
    problems.add('variables', `a tracker has at most ${maxVariables} variables, not ${variables.size}`)
  }
  let bytes = 2
  for (const [name, value] of variables) {
    if (!variableNamePattern.test(name)) {
      const rule = 'a name is a letter, then up to 63 letters, digits, "_", "." or "-"'
      problems.add(shorten(name), `${JSON.stringify(shorten(name))} is not a valid name; ${rule}`)
      continue
    }
    if (isDeeper(value, maxValueDepth)) {
      problems.add(name, `the value of ${name} has more than ${maxValueDepth} levels`)
      continue
    }
    const size = Buffer.byteLength(JSON.stringify(value))
    bytes += name.length + size + 4
    if (size > maxValueBytes) {
      problems.add(name, `the value of ${name} has ${size} bytes as compact JSON; the limit is 64 KiB`)
    }
  }
  if (bytes > maxDocumentBytes) {
    problems.add('variables', `all variables of a tracker have at most 1 MiB together, not ${bytes} bytes`)
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1))
}

function shorten(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}
