import assert from 'node:assert/strict'
import type { RunningProgram } from '../../support/command-line.ts'

/** A line that a process has logged of its limiter. */
export interface LimiterLine {
  at: number
  state: 'lost' | 'found'
}

/** All such lines, in order. Fails unless losses and recoveries take turns. */
export function limiterLines(program: RunningProgram): LimiterLine[] {
  const said = program
    .stdout()
    .matchAll(/"time":(\d+),.*"msg":"the limiter (?:(cannot be reached: )|can be reached again)/g)
  return Array.from(said, ([, at, lost], number) => {
    const state = lost === undefined ? 'found' : 'lost'
    assert.equal(state, number % 2 === 0 ? 'lost' : 'found')
    return { at: Number(at), state }
  })
}
