import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { childProgram } from '../../support/child-program.ts'

/** Starts a program of this folder as a process, with the same Node. */
export function runChild(file: string, ...args: string[]): ChildProcessByStdio<null, Readable, null> {
  const program = childProgram(new URL(file, import.meta.url))
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}
