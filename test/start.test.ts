import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import type { Services } from '../src/domain/services.ts'
import { openServices, startService } from '../src/start.ts'
import { emptyStore } from './support/empty-store.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { testSecretFile } from './support/test-keyring.ts'
import { until } from './support/until.ts'

/** A service about to start, on a store whose preparation the test controls. */
async function startWith(
  t: TestContext,
  prepareToWrite: () => Promise<void>,
  env: Record<string, string> = {},
) {
  const config = readConfig({
    ...env,
    LETHE_PORT: '0',
    LETHE_STORE: await emptyStore(t),
    LETHE_SECRET_FILE: testSecretFile(),
  })
  const opened = await openServices(config, { create: true })
  let closings = 0
  const services: Services = {
    ...opened,
    prepareToWrite,
    async close() {
      closings++
      await opened.close()
    },
  }
  return {
    start: startService(config, services, {
      logger: pino({ level: 'silent' }),
      write() {},
      droppedLines: () => 0,
    }),
    closings: () => closings,
  }
}

describe('the start of a service', () => {
  it('completes only after its store is ready to write', async (t) => {
    const { promise: prepared, resolve: finish } = Promise.withResolvers<void>()
    let hasBegun = false
    const { start } = await startWith(t, () => {
      hasBegun = true
      return prepared
    })
    let isStarted = false
    const started = start.then((service) => {
      isStarted = true
      return service
    })
    await until(() => hasBegun)
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    assert.equal(isStarted, false)
    finish()
    await (await started).stop()
  })

  it('fails and closes everything if its store cannot be prepared', async (t) => {
    const broken = new Error('The writer thread ended.')
    const { start, closings } = await startWith(t, () => Promise.reject(broken))
    await assert.rejects(start, broken)
    assert.equal(closings(), 1)
  })

  it('fails and closes everything if the spool folder cannot be used', async (t) => {
    const missing = join(temporaryFolder(t), 'missing')
    const { start, closings } = await startWith(t, async () => {}, { LETHE_SPOOL_DIR: missing })
    await assert.rejects(start, {
      message: `Cannot create a file in ${missing}, the value of LETHE_SPOOL_DIR (ENOENT).`,
    })
    assert.equal(closings(), 1)
  })
})
