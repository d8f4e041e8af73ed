import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

type Step = { title: string; args: string[] }

// `biome ci` colours its output even without a terminal.
const colors = process.stdout.isTTY ? [] : ['--colors=off']

const steps: Step[] = [
  { title: 'format and lint', args: ['node_modules/@biomejs/biome/bin/biome', 'ci', ...colors, '.'] },
  { title: 'types', args: ['node_modules/typescript/bin/tsc', '--noEmit'] },
  { title: 'types of the console', args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'console'] },
  {
    title: 'types of the browser tests',
    args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'test/browser'],
  },
  { title: 'generated files', args: ['scripts/openapi.ts', '--check'] },
  { title: 'page that verifies receipts', args: ['scripts/verify-page.ts', '--check'] },
  {
    title: 'API description',
    args: ['node_modules/@redocly/cli/bin/cli.js', 'lint', 'openapi/v1.json', 'openapi/variables.json'],
  },
]

// The linter must neither send telemetry nor check for a new version.
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
const cwd = fileURLToPath(new URL('..', import.meta.url))

for (const { title, args } of steps) {
  console.log(`\n# ${title}`)
  const start = performance.now()
  const { status } = spawnSync(process.execPath, args, { cwd, env, stdio: 'inherit' })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`# ${title}: ${status === 0 ? 'ok' : 'failed'} after ${seconds} s`)
  if (status !== 0) process.exit(status ?? 1)
}
