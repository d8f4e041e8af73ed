// Writes test/browser/layout.json anew: where the parts of the console's pages are. For after a change that was meant, and a look at it.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('../..', import.meta.url))
const env = { ...process.env, LETHE_TEST_LAYOUT: 'write' }
const setup = '--test-global-setup=test/support/global-setup.ts'
const args = ['--test', setup, 'test/browser/layout.test.ts']
process.exitCode = spawnSync(process.execPath, args, { cwd, env, stdio: 'inherit' }).status ?? 1
