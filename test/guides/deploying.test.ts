import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { freePort } from '../deploy/run-proxy.ts'
import { blocks, read, root } from '../docs/markdown.ts'
import { commandLine, startServe } from '../support/command-line.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import { noRedisOfOurOwn, startRedis } from '../support/redis.ts'
import { runGuide } from './run-guide.ts'
import { openShell } from './shell.ts'

const file = 'docs/guides/deploying.md'

test('the commands for one machine print what the guide shows', async (t) => {
  const cli = commandLine(t, 'sqlite:data/lethe.db')
  const { url } = await startServe(cli, { LETHE_PORT: String(await freePort()) })
  const shell = openShell(t, cli.folder, {})
  await runGuide(file, { shell, names: { 'http://127.0.0.1:8080': url }, only: 'One machine' })
})

test('the commands for a fleet print what the guide shows, with two services', {
  skip: noRedisOfOurOwn,
}, async (t) => {
  const lifetime = inReverse(t)
  const store = await freshDatabase(lifetime)
  const { url: limiter } = await startRedis(lifetime)
  const cli = commandLine(lifetime, store)
  const addresses = ['http://10.0.0.1:8080', 'http://10.0.0.2:8080']
  const ports = [await freePort(), await freePort()]
  await runGuide(file, {
    shell: openShell(lifetime, cli.folder, {}),
    names: {
      'postgres://lethe@db.internal:5432/lethe': store,
      'redis://cache.internal:6379': limiter,
      ...Object.fromEntries(addresses.map((address, i) => [address, `http://127.0.0.1:${ports[i]}`])),
    },
    standIns: {
      'sudo systemctl start lethe': () =>
        Promise.all(
          ports.map((port) => startServe(cli, { LETHE_LIMITER: limiter, LETHE_PORT: String(port) })),
        ),
    },
    only: 'A fleet',
  })
})

describe('what the guides do as root, and no test can', () => {
  const scripts = ['deploying', 'upgrading'].flatMap((name) => blocks(read(`docs/guides/${name}.md`), 'sh'))

  test('is sound for a shell', () => {
    assert.equal(scripts.length, 2)
    for (const script of scripts) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
  })

  test('copies files that are there to where the unit looks for them', () => {
    const unit = read('deploy/systemd/lethe.service')
    const copied = scripts.flatMap((script) => [...script.matchAll(/^install .* (deploy\S+) (\S+)$/gm)])
    assert.equal(copied.length, 3)
    for (const [, from = ''] of copied) assert.ok(existsSync(new URL(from, root)), from)
    assert.ok(unit.includes('EnvironmentFile=-/etc/lethe/lethe.env'))
    assert.ok(unit.includes('/opt/lethe/bin/lethe.js serve'))
    assert.deepEqual(
      copied.map(([, , to]) => to),
      ['/etc/lethe/lethe.env', '/etc/systemd/system/lethe.service', '/etc/nginx/conf.d/lethe.conf'],
    )
  })
})
