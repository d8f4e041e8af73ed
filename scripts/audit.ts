// Queries the registry for known vulnerabilities of the packages in the lock file, and fails if there are
// any.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { auditVerdict } from './audit-verdict.ts'

const cwd = fileURLToPath(new URL('..', import.meta.url))

const { passes, vulnerable, says } = auditVerdict(JSON.parse(audit(['--json'], 'pipe') || '{}'))
console.log(`audit: ${says}`)
if (vulnerable > 0) audit([], 'inherit')
if (!passes) process.exitCode = 1

function audit(options: readonly string[], output: 'pipe' | 'inherit'): string {
  const { stdout } = spawnSync('npm', ['audit', '--package-lock-only', ...options], {
    ...{ cwd, encoding: 'utf8', maxBuffer: 64 * 2 ** 20, shell: process.platform === 'win32' },
    stdio: ['ignore', output, output === 'inherit' ? 'inherit' : 'ignore'],
  })
  return stdout ?? ''
}
