import { execFileSync } from 'node:child_process'
import { root } from './root.ts'

/** The instant that everything built here bears: SOURCE_DATE_EPOCH where somebody set it, else when the commit was made. */
export function sourceDate(): Date {
  const seconds =
    process.env.SOURCE_DATE_EPOCH ??
    execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return new Date(Number(seconds) * 1_000)
}
