import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('the packages of the lock file install without scripts, and suffice to run', (t) => {
  const folder = temporaryFolder(t)
  const run = (program: string, args: string[], env = process.env) =>
    execFileSync(program, args, { cwd: folder, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] })
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files.filter((name) => name !== '')) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  run('npm', ['ci', '--ignore-scripts', '--omit=dev', '--prefer-offline'])
  const env = { ...process.env, LETHE_STORE: `sqlite:${join(folder, 'data', 'lethe.db')}` }
  const lethe = (...args: string[]) => run(process.execPath, ['src/main.ts', ...args], env)
  lethe('orgs', 'create', '--name', 'Acme', '--id', 'acme')
  assert.match(lethe('orgs', 'list', '--json'), /"id":"acme"/)
})
