import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { blocks, read, root, section } from '../docs/markdown.ts'
import { inReverse } from '../support/in-reverse.ts'
import { bootMachine, noMachine } from '../support/machine.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runGuide } from './run-guide.ts'
import { openShell } from './shell.ts'

const file = 'docs/guides/deploying.md'

test('the commands for one machine and its upgrade work as documented: under systemd, behind nginx', {
  skip: noMachine || missing('nginx') || missing('openssl') || missing('git'),
  timeout: 600_000,
}, async (t) => {
  const lifetime = inReverse(t)
  const clone = fileURLToPath(root)
  // Not in memory, because the machine mounts its own memory file system when it boots.
  const folder = temporaryFolder(lifetime, '/var/tmp')
  const machine = await bootMachine(lifetime, clone, folder)
  const shell = openShell(lifetime, folder, {}, { within: machine.within() })
  // The initial state of the machine: the clone, a new version of it, and nginx with a certificate.
  // Installing the dependencies and building the console is slow, and is tested elsewhere.
  const openssl = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2'
  await runAsRoot(`git clone -q --bare --no-hardlinks '${clone}' /srv/lethe.git && git -C /srv/lethe.git tag v0.2.0
    git clone -q /srv/lethe.git /opt/lethe
    cd '${clone}' && git ls-files -z | xargs -0 cp --parents -t /opt/lethe
    cp -a node_modules /opt/lethe && cp -a console/dist /opt/lethe/console
    mkdir /etc/ssl/lethe && cd /etc/ssl/lethe
    ${openssl} -subj /CN=lethe.example -addext subjectAltName=DNS:lethe.example -keyout privkey.pem -out fullchain.pem
    systemctl start nginx`)

  const [install = '', copySite = '', reload = '', ...more] = blocks(section(read(file), 'One machine'), 'sh')
  assert.deepEqual(more, [])
  await runAsRoot(install)
  await runGuide(file, { shell, names: {}, only: 'One machine' })
  const patiently = 'curl -s --retry 30 --retry-delay 1 --retry-all-errors'
  assert.match(await shell.run(`${patiently} http://127.0.0.1:8080/console`), /<!doctype html>/i)
  const running = 'systemctl show --property=MainPID --value lethe'
  assert.equal(await shell.run(`stat -c %U /proc/$(${running})`), 'lethe\n')
  await runAsRoot(`${copySite}\n${reload}`)
  const trust = '--cacert /etc/ssl/lethe/fullchain.pem --resolve lethe.example:443:127.0.0.1'
  // nginx reloads asynchronously, and opens its new port later.
  const refused = await shell.run(
    `${patiently} ${trust} https://lethe.example/v1/analytics/trackers/acme-shop/subjects`,
  )
  assert.equal(JSON.parse(refused).error.code, 'unauthorized')

  const upgrading = 'docs/guides/upgrading.md'
  const [upgrade = '', ...others] = blocks(section(read(upgrading), 'One machine'), 'sh')
  assert.deepEqual(others, [])
  await runGuide(upgrading, {
    shell,
    names: {},
    only: 'One machine',
    standIns: {
      'sudo systemctl stop lethe': async () => {
        await shell.run('systemctl stop lethe')
        assert.equal(
          await shell.run('systemctl show --property=Result,ExecMainStatus lethe'),
          'Result=success\nExecMainStatus=0\n',
        )
        await runAsRoot(upgrade)
      },
    },
  })

  /** Runs commands as root with network access, through which npm downloads what is missing. */
  async function runAsRoot(script: string): Promise<void> {
    const [program = '', ...args] = [...machine.within('outer'), 'bash', '-e', '-c', script]
    await promisify(execFile)(program, args)
  }
})
