import type { RunningProgram } from '../support/command-line.ts'

/** What a process has logged of its limiter, in order. */
export function limiterLines(program: RunningProgram): ('lost' | 'found')[] {
  const said = program
    .stdout()
    .matchAll(/^\{.*"msg":"the limiter (cannot be reached: |can be reached again)/gm)
  return Array.from(said, ([, words]) => (words === 'can be reached again' ? 'found' : 'lost'))
}
