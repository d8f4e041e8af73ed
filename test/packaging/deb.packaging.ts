import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { architectures, type DebParts, makeDeb } from '../../scripts/packaging/make-deb.ts'
import { readManifest } from '../../scripts/packaging/manifest.ts'
import { runGuide } from '../guides/run-guide.ts'
import { openShell } from '../guides/shell.ts'
import { inReverse } from '../support/in-reverse.ts'
import { bootMachine, type Machine, noMachine } from '../support/machine.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { buildBinary, notOnLinux, target } from './built-binary.ts'

const parts: DebParts = {
  binary: '',
  architecture: architectures[target],
  version: readManifest('package.json').version,
  date: new Date('2026-11-17T00:00:00.000Z'),
  effort: 0,
}

describe('the Debian package', { skip: notOnLinux || missing('dpkg-deb') }, () => {
  // Not in memory: the machine mounts its own tmpfs when it boots, which would hide the folder.
  const folder = mkdtempSync('/var/tmp/lethe-deb-')
  let now = ''
  before(async () => {
    parts.binary = buildBinary()
    now = await makeDeb(parts, folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  test('is identical, byte for byte, when it is built again', async (t) => {
    const again = await makeDeb(parts, temporaryFolder(t))
    assert.ok(readFileSync(again).equals(readFileSync(now)))
  })

  test('has no lintian errors', { skip: missing('lintian') }, () => {
    const { status, stdout } = spawnSync('lintian', ['--fail-on', 'error', now], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })

  test('is installed, upgraded, removed and purged as Debian requires, under systemd', {
    skip: noMachine || missing('apt-get'),
    timeout: 600_000,
  }, async (t) => {
    const lifetime = inReverse(t)
    const next = await makeDeb({ ...parts, version: `${parts.version}+next` }, folder)
    const machine = await bootMachine(lifetime, folder)
    const run = (script: string) => runIn(machine, script)
    const apt = (...args: string[]) =>
      run(`DEBIAN_FRONTEND=noninteractive apt-get -qq -y ${args.join(' ')} </dev/null`)
    const ready = (port: number) =>
      run(`curl -s --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:${port}/readyz`)
    // In container images, this file prevents packages from starting their services.
    await run('rm -f /usr/sbin/policy-rc.d')

    await apt('install', now)
    assert.match(await ready(8080), /"status":"ready"/)
    assert.equal(await run('systemctl is-enabled lethe lethe-backup.timer || true'), 'enabled\ndisabled\n')
    const shell = openShell(lifetime, folder, {}, { within: machine.within() })
    await runGuide('docs/guides/install.md', { shell, names: {}, only: 'The Debian package' })
    const pid = 'systemctl show --property=MainPID --value lethe'
    assert.equal(await run(`stat -c %U /proc/$(${pid})`), 'lethe\n')
    assert.equal(await run('stat -c "%a %U" /var/lib/lethe /etc/lethe/lethe.env'), '700 lethe\n600 root\n')
    assert.match(await run('setpriv --reuid=nobody --clear-groups lethe --version'), /^\d/)
    assert.match(await run('man --pager=cat --warnings lethe 2>&1'), /lethe orgs create/)
    assert.match(await run('. /usr/share/bash-completion/completions/lethe; complete -p lethe'), /lethe/)

    await run('systemctl start lethe-backup.service')
    assert.match(
      await run('ls /var/lib/lethe/backups'),
      /^lethe-\d{8}T\d{6}Z\.db\nlethe-\d{8}T\d{6}Z\.db\.json\n$/,
    )

    await run(`sed -i s/8080/8090/ /etc/lethe/lethe.env; systemctl restart lethe`)
    await ready(8090)
    const before = await run(pid)
    await apt('install', next)
    assert.match(await ready(8090), /"status":"ready"/)
    assert.notEqual(await run(pid), before)
    assert.match(await run('dpkg-query --show lethe'), /\+next\n$/)
    assert.match(await run('lethe orgs list'), /^acme /m)

    await apt('remove', 'lethe')
    assert.equal(await run('systemctl is-active lethe || true'), 'inactive\n')
    assert.equal(await run('ls /usr/lib/lethe /usr/bin/lethe 2>/dev/null || true'), '')
    await run('test -s /var/lib/lethe/lethe.db -a -s /etc/lethe/lethe.env')
    await apt('install', next)
    assert.match(await ready(8090), /"status":"ready"/)
    assert.match(await run('lethe orgs list'), /^acme /m)

    await apt('purge', 'lethe')
    assert.equal(
      await run('find /etc /usr/lib /usr/bin /usr/share /var/lib/lethe -name "lethe*" 2>/dev/null || true'),
      '',
    )
    assert.equal(await run('systemctl list-unit-files --no-legend "lethe*" || true'), '')
  })
})

/** Runs a script as root in the machine. Returns its output. */
async function runIn(machine: Machine, script: string): Promise<string> {
  const [program = '', ...args] = [...machine.within(), 'bash', '-e', '-c', script]
  const { stdout } = await promisify(execFile)(program, args)
  return stdout
}
