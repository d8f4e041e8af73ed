// Asks the registry what is known against the packages of the lock file, and fails when it is anything.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What `npm audit --json` prints: a report, or why there is none. */
interface Outcome {
  metadata?: { vulnerabilities: { total: number }; dependencies: { total: number } }
  message?: string
  statusCode?: number
  error?: { summary: string }
}

/** What a registry answers that has no advisories to offer, as many mirrors do. Anything else is a failure, not an answer. */
const notOffered = [404, 405, 501]

const cwd = fileURLToPath(new URL('..', import.meta.url))

const { metadata, message, statusCode = 0, error }: Outcome = JSON.parse(audit(['--json'], 'pipe') || '{}')
if (metadata) {
  const { vulnerabilities, dependencies } = metadata
  console.log(`audit: ${vulnerabilities.total} of ${dependencies.total} packages have known vulnerabilities`)
  if (vulnerabilities.total > 0) {
    audit([], 'inherit')
    process.exitCode = 1
  }
} else if (notOffered.includes(statusCode)) {
  console.log(`audit: could not be asked, this registry offers no advisories (${statusCode})`)
} else {
  console.error(`audit: failed: ${message ?? error?.summary ?? 'npm said nothing'}`)
  process.exitCode = 1
}

function audit(options: readonly string[], output: 'pipe' | 'inherit'): string {
  const { stdout } = spawnSync('npm', ['audit', '--package-lock-only', ...options], {
    ...{ cwd, encoding: 'utf8', maxBuffer: 64 * 2 ** 20, shell: process.platform === 'win32' },
    stdio: ['ignore', output, output === 'inherit' ? 'inherit' : 'ignore'],
  })
  return stdout ?? ''
}
