// Writes test/browser/layout.json, the positions of the parts of each page. For intended changes only.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('../..', import.meta.url))
const env = { ...process.env, LETHE_TEST_LAYOUT: 'write' }
const setup = '--test-global-setup=test/support/global-setup.ts'
const args = ['--test', setup, 'test/browser/layout.test.ts']
process.exitCode = spawnSync(process.execPath, args, { cwd, env, stdio: 'inherit' }).status ?? 1
