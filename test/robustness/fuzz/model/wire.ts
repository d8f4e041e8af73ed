import { pino } from 'pino'
import { readConfig } from '../../../../src/config.ts'
import type { Services } from '../../../../src/domain/services.ts'
import { openServices, startService } from '../../../../src/start.ts'
import { type Answer, assertDocumented } from '../../../support/documented.ts'
import { emptyStore } from '../../../support/empty-store.ts'
import { inReverse } from '../../../support/in-reverse.ts'
import { openRawConnection, type RawConnection, requestText } from '../../../support/raw-http.ts'
import type { Lifetime } from '../../../support/service.ts'
import { testSecretFile } from '../../../support/test-keyring.ts'

/** A persistent connection to a service, which is much faster than fetch and supports pipelining. */
export class Wire {
  readonly #url: string
  #connection: Promise<RawConnection> | null = null
  /** The last request: answers arrive in the order of the requests. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request and checks the answer against the OpenAPI document. */
  async ask(target: string, key: string, method = 'GET'): Promise<Answer> {
    this.#connection ??= openRawConnection(this.#url)
    const connection = await this.#connection
    connection.send(requestText(target, { key, method }))
    const answered = this.#last.then(() => connection.answer(method))
    this.#last = answered
    const answer = await answered
    assertDocumented(method, target, answer)
    return answer
  }

  async close(): Promise<void> {
    const connection = await this.#connection
    connection?.hangUp()
    this.#connection = null
  }
}

/** A service whose clock only the test sets. It runs no maintenance. */
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
