import { pino } from 'pino'
import { readConfig } from '../../../../src/config.ts'
import type { Services } from '../../../../src/domain/services.ts'
import { openServices, startService } from '../../../../src/start.ts'
import { emptyStore } from '../../../support/empty-store.ts'
import { inReverse } from '../../../support/in-reverse.ts'
import type { Lifetime } from '../../../support/service.ts'
import { testSecretFile } from '../../../support/test-keyring.ts'

/** A service whose clock stands still unless it is set. It does no maintenance by itself. */
export interface FrozenService {
  url: string
  services: Services
  setClock(now: number): void
}

export async function startFrozenService(t: Lifetime): Promise<FrozenService> {
  const lifetime = inReverse(t)
  const config = readConfig({
    LETHE_PORT: '0',
    LETHE_STORE: await emptyStore(lifetime),
    LETHE_SECRET_FILE: testSecretFile(),
    LETHE_LIMIT_IP: '999999999/day',
    LETHE_LIMIT_KEY: '999999999/day',
    LETHE_LIMIT_ERASURE: '999999999/day',
    LETHE_SWEEP_SECONDS: '86400',
    LETHE_SCRUB_HOUR: 'off',
  })
  let now = 0
  const services = { ...(await openServices(config, { create: true })), clock: () => now }
  const service = await startService(config, services, {
    logger: pino({ level: 'silent' }),
    write() {},
    droppedLines: () => 0,
  })
  lifetime.after(() => service.stop())
  return {
    url: service.url,
    services,
    setClock(instant) {
      now = instant
    },
  }
}
