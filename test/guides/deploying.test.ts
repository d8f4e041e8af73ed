import { join } from 'node:path'
import { test } from 'node:test'
import { hideSecrets } from '../../src/domain/secret.ts'
import { freePort } from '../deploy/run-proxy.ts'
import { commandLine } from '../support/command-line.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import { noRedisOfOurOwn, startRedis } from '../support/redis.ts'
import { startTestService } from '../support/service.ts'
import { runGuide } from './run-guide.ts'
import { openShell, programHere } from './shell.ts'

const file = 'docs/guides/deploying.md'

/** An empty variable counts as none. */
const defaultBudgets = { LETHE_LIMIT_IP: '', LETHE_LIMIT_KEY: '', LETHE_LIMIT_ERASURE: '' }

test('the commands for a fleet print what the guide shows, with two services', {
  skip: noRedisOfOurOwn,
}, async (t) => {
  const lifetime = inReverse(t)
  const store = await freshDatabase(lifetime)
  const { url: limiter } = await startRedis(lifetime)
  const cli = commandLine(lifetime, store)
  const addresses = ['http://10.0.0.1:8080', 'http://10.0.0.2:8080']
  const LETHE_SECRET_FILE = join(cli.folder, 'lethe.secret')
  const ports = [await freePort(), await freePort()]
  await runGuide(file, {
    shell: openShell(lifetime, cli.folder, {}, { program: await programHere(lifetime, cli.folder) }),
    names: {
      'postgres://lethe@db.internal:5432/lethe': store,
      'postgres://db.internal:5432/lethe': hideSecrets(store),
      'redis://cache.internal:6379': limiter,
      ...Object.fromEntries(addresses.map((address, i) => [address, `http://127.0.0.1:${ports[i]}`])),
    },
    standIns: {
      'sudo systemctl start lethe': () =>
        Promise.all(
          ports.map((port) =>
            startTestService(lifetime, {
              LETHE_STORE: store,
              LETHE_LIMITER: limiter,
              LETHE_PORT: String(port),
              LETHE_SECRET_FILE,
              ...defaultBudgets,
            }),
          ),
        ),
    },
    only: 'A fleet',
  })
})
