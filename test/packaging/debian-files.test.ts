import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { architectures, packagedUnit, packagedWrapper } from '../../scripts/packaging/make-deb.ts'
import { manPage, programForHelp } from '../../scripts/packaging/man-page.ts'
import { targets } from '../../scripts/packaging/targets.ts'
import { completables } from '../../src/cli/commands/completion.ts'
import { variables } from '../../src/config.ts'
import { read, root } from '../docs/markdown.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const scripts = ['postinst', 'prerm', 'postrm', 'backup'].map((name) => `scripts/packaging/debian/${name}`)
const unit = packagedUnit(read('deploy/systemd/lethe.service'))

describe('the files of the Debian package', () => {
  test('have a unit with the same sandbox as the one for a clone, and its own user', (t) => {
    assert.match(unit, /^\[Unit\]\n/)
    assert.match(unit, /^ExecStart=\/usr\/lib\/lethe\/lethe serve --json$/m)
    assert.match(unit, /^User=lethe\nGroup=lethe$/m)
    assert.doesNotMatch(unit, /DynamicUser|\/opt\/|node/i)
    if (missing('systemd-analyze')) return t.diagnostic('systemd-analyze is not on the path')
    const file = join(temporaryFolder(t), 'lethe.service')
    writeFileSync(file, unit)
    const args = ['security', '--offline=yes', '--threshold=20', '--no-pager', file]
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  })

  test('have a unit for backups that is well-formed', { skip: missing('systemd-analyze') }, (t) => {
    const folder = temporaryFolder(t)
    const files = ['lethe-backup.service', 'lethe-backup.timer'].map((name) => {
      // The verification also requires the command to exist.
      const text = read(`scripts/packaging/debian/${name}`).replace('/usr/lib/lethe/backup', '/bin/true')
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    })
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [0, ''])
  })

  test('have scripts that every shell accepts', {
    skip: !existsSync('/bin/sh') && 'there is no /bin/sh',
  }, (t) => {
    const wrapper = join(temporaryFolder(t), 'lethe')
    writeFileSync(wrapper, packagedWrapper(read('deploy/systemd/lethe')))
    for (const file of [...scripts.map((path) => new URL(path, root).pathname), wrapper]) {
      const { status, stderr } = spawnSync('/bin/sh', ['-n', file], { encoding: 'utf8' })
      assert.deepEqual([status, stderr], [0, ''], file)
    }
  })

  test('are made for every Linux architecture with a binary', () => {
    assert.deepEqual(
      Object.keys(architectures),
      Object.keys(targets).filter((target) => target.startsWith('linux')),
    )
  })
})

describe('the manual page', () => {
  test('has every command with its options, and every variable', async () => {
    const page = (await manPage(new Date(0))).replaceAll('\\-', '-')
    for (const { words, commands, options } of completables(await programForHelp())) {
      if (words.length === 0 || commands.length > 0) continue
      const section = page.split(`.SS lethe ${words.join(' ')}`)[1]?.split('\n.S')[0] ?? ''
      assert.notEqual(section, '', words.join(' '))
      for (const { name } of options.filter((option) => option.name !== '--help')) {
        assert.ok(section.includes(name), `${words.join(' ')} ${name}`)
      }
    }
    for (const name of Object.keys(variables)) assert.ok(page.includes(`.B ${name}\n`), name)
  })

  test('has no formatter warnings', { skip: missing('groff') }, async () => {
    const input = await manPage(new Date(0))
    const { status, stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-Kutf8'], {
      input,
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, /list, read and erase/)
  })
})
