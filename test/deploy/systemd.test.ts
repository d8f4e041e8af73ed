import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { variables } from '../../src/config.ts'
import { read, root } from '../docs/markdown.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

for (const name of ['lethe', 'lethe-ship']) describeUnit(name)

describe('the command on the store of the service', () => {
  /** Runs the wrapper with a `systemd-run` that prints its arguments, one in each line. */
  function run(t: TestContext, args: readonly string[], env: Record<string, string> = {}) {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'systemd-run'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 })
    const PATH = `${folder}:${process.env.PATH}`
    const wrapper = new URL('deploy/systemd/lethe', root).pathname
    return spawnSync('/bin/sh', [wrapper, ...args], { encoding: 'utf8', env: { PATH, ...env } })
  }
  const skip = !existsSync('/bin/sh') && 'there is no /bin/sh'

  test('has a description without its arguments, which systemd would log', { skip }, (t) => {
    const { status, stdout } = run(t, ['subjects', 'get', 'shop', 'anna'])
    assert.equal(status, 0)
    const args = stdout.split('\n')
    assert.ok(args.includes('--description=A command of Lethe'), stdout)
    assert.deepEqual(args.slice(-5), ['subjects', 'get', 'shop', 'anna', ''])
  })

  test('refuses settings in its environment, and shows no value', { skip }, (t) => {
    const { status, stdout, stderr } = run(t, ['orgs', 'list'], { LETHE_STORE: 'postgres://hunter2' })
    const message = 'error: set LETHE_STORE in /etc/lethe/lethe.env: this command reads its settings there\n'
    assert.deepEqual([status, stdout, stderr], [2, '', message])
  })
})

function describeUnit(name: string): void {
  const unit = read(`deploy/systemd/${name}.service`)
  const settings = read(`deploy/systemd/${name}.env`)

  describe(`the unit ${name} for systemd`, () => {
    test('is valid', { skip: missing('systemd-analyze') }, (t) => {
      const file = join(temporaryFolder(t), `${name}.service`)
      // systemd-analyze also checks that the command exists, and Node may be elsewhere.
      assert.ok(unit.includes('ExecStart=/usr/bin/node '))
      writeFileSync(file, unit.replace('ExecStart=/usr/bin/node ', `ExecStart=${process.execPath} `))
      const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
      assert.deepEqual([status, stdout, stderr], [0, '', ''])
    })

    test('restricts the service', { skip: missing('systemd-analyze') }, (t) => {
      const file = join(temporaryFolder(t), `${name}.service`)
      writeFileSync(file, unit)
      // In tenths, on systemd’s scale from 0 (best) to 100.
      const args = ['security', '--offline=yes', '--threshold=20', '--no-pager', file]
      const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      assert.equal(status, 0, stdout + stderr)
    })

    test('sets only known variables', () => {
      const named = [...`${unit}\n${settings}`.matchAll(/^(?:Environment=)?(LETHE_\w+)=/gm)].map(
        ([, name = '']) => name,
      )
      assert.ok(named.length >= 2)
      for (const name of named) assert.ok(Object.hasOwn(variables, name), name)
    })
  })
}
