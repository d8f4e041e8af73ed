import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { variables } from '../../src/config.ts'
import { read } from '../docs/markdown.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

for (const name of ['lethe', 'lethe-ship']) describeUnit(name)

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
