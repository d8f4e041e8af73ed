import { execFileSync } from 'node:child_process'
import { root } from './root.ts'

/**
 * The time stamp of everything that is built: SOURCE_DATE_EPOCH if it is set, otherwise the time of the
 * commit.
 */
export function sourceDate(): Date {
  const seconds =
    process.env.SOURCE_DATE_EPOCH ??
    execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return new Date(Number(seconds) * 1_000)
}
