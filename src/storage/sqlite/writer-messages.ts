import type { CommandName, Commands } from './commands.ts'

export interface Call {
  id: number
  name: CommandName
  args: unknown[]
}

/** A call to erase. */
export interface Erasing extends Call {
  name: 'eraseSubjects'
  args: Parameters<Commands['eraseSubjects']>
}

/** What the thread is sent. */
export type Message = Call[] | 'close'

/** What a call comes back with. */
export interface Reply {
  id: number
  result?: unknown
  error?: Error
}

/** What the thread tells of itself. */
export type Report =
  /** How long others have held the log, longer than it waits for them; `null` when they let go. */
  | { logHeldMs: number | null }
  /** The log is to be emptied, and somebody reads in it; or that is over. */
  | { isLogWanted: boolean }
  /** The disk is full, broken or may not be written to. */
  | { hasDiskFailed: true }
