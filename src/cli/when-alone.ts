import { setTimeout as delay } from 'node:timers/promises'
import type { MaintenanceStore } from '../domain/maintenance.ts'
import type { Terminal } from './terminal.ts'

const lookAgainMs = 100

/** Does work that only one process may do at a time; while another is at it, says so and waits. */
export async function whenAlone<Result>(
  { tell }: Terminal,
  maintenance: MaintenanceStore,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    const done = await maintenance.alone(async () => ({ result: await work() }))
    if (done) return done.result
    if (tries === 0) tell('Another process is sweeping, scrubbing or copying; waiting for it.')
    await delay(lookAgainMs)
  }
}
