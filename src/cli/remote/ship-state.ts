import { closeSync, openSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isObject } from '../../domain/json.ts'
import type { FilePosition, Frontier } from './ship-file.ts'
import { replaceWhole } from './whole-file.ts'

interface SavedState {
  version: 1
  trackerId: string
  position: FilePosition
}

/** The state file of a shipper: how far a file was sent. Only one process at a time can use it. */
export class ShipState {
  readonly #path: string
  readonly #trackerId: string
  readonly #lock: DatabaseSync
  /** Where to continue; `null` for a file that was never sent. */
  readonly position: FilePosition | null

  private constructor(path: string, trackerId: string, lock: DatabaseSync) {
    this.#path = path
    this.#trackerId = trackerId
    this.#lock = lock
    this.position = this.#read()
  }

  /** Throws if another process uses the file, or if it is damaged or of another tracker. */
  static open(path: string, trackerId: string): ShipState {
    const lock = lockFile(`${path}.lock`)
    if (lock === null)
      throw new Error(`Another process uses the state file ${path}. Choose another one with --state.`)
    try {
      return new ShipState(path, trackerId, lock)
    } catch (error) {
      lock.close()
      throw error
    }
  }

  /** When this resolves, the position survives a crash of the process or the machine. */
  async save(position: FilePosition): Promise<void> {
    const state: SavedState = { version: 1, trackerId: this.#trackerId, position }
    await replaceWhole(this.#path, [`${JSON.stringify(state)}\n`])
  }

  close(): void {
    this.#lock.close()
  }

  #read(): FilePosition | null {
    const text = readIfExists(this.#path)
    if (text === null) return null
    const state = parse(text)
    if (!isSavedState(state))
      throw new Error(`${this.#path} is not a state file. Choose another one with --state.`)
    if (state.trackerId === this.#trackerId) return state.position
    throw new Error(
      `The state file ${this.#path} belongs to another tracker. Choose another one with --state.`,
    )
  }
}

const busy = 5

/** Locks a file until the process ends, as SQLite does it; `null` if another process has locked it. */
function lockFile(path: string): DatabaseSync | null {
  closeSync(openSync(path, 'a', 0o600))
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return null
    throw error
  }
}

function readIfExists(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isSavedState(value: unknown): value is SavedState {
  return (
    isObject(value) &&
    value.version === 1 &&
    typeof value.trackerId === 'string' &&
    isPosition(value.position)
  )
}

function isPosition(value: unknown): value is FilePosition {
  return (
    isObject(value) &&
    typeof value.file === 'string' &&
    isCount(value.offset) &&
    isCount(value.lines) &&
    isFrontier(value.frontier) &&
    isObject(value.head) &&
    isCount(value.head.bytes) &&
    typeof value.head.sha256 === 'string'
  )
}

function isFrontier(value: unknown): value is Frontier {
  return (
    isObject(value) &&
    typeof value.modifiedMs === 'number' &&
    Array.isArray(value.files) &&
    value.files.every((each) => typeof each === 'string')
  )
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
