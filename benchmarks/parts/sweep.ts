// Sweeps of different sizes in a small and a large store, compared with plain deletes, and their effect on
// reads.
import { readConfig } from '../../src/config.ts'
import { sweepAged } from '../../src/maintenance/sweep.ts'
import { openServices } from '../../src/start.ts'
import { deleteAgedPlainly } from '../baselines/plain-sqlite.ts'
import type { Bench } from '../bench.ts'
import { readsMeanwhile } from '../load/reads-meanwhile.ts'
import { startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { SweepSize } from '../sizes.ts'
import { copyStore } from '../stores/copy-store.ts'
import { type BenchStore, emptyStore, organisation } from '../stores/empty-store.ts'
import { daysBack, fillStore } from '../stores/fill-store.ts'

const eventsEach = 20

export async function measureSweep(bench: Bench<SweepSize>): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  const groups: Group[] = []
  for (const subjects of size.subjects) {
    const name = `${(subjects * eventsEach).toLocaleString('en')} events`
    tell(name)
    const store = await emptyStore(lifetime, { plan: 'pro' })
    await fillStore(store.env, subjects, eventsEach)
    const figures = new Figures()
    for (let round = 0; round < size.rounds; round++) {
      for (const aged of size.aged) await measureSweepOf(store, subjects, aged, figures)
    }
    groups.push({ name: `in a store of ${name}`, rows: figures.rows() })
    if (subjects !== size.subjects[0]) continue
    tell('reads during a sweep')
    groups.push(await readsDuringSweep(bench, store, subjects))
  }
  return groups
}

/** The window outside which about this many events lie; they are spread evenly over the days. */
function windowFor(aged: number, subjects: number): number {
  return daysBack * (1 - aged / (subjects * eventsEach))
}

async function measureSweepOf(
  store: BenchStore,
  subjects: number,
  aged: number,
  figures: Figures,
): Promise<void> {
  const path = copyStore(store, 'swept')
  const services = await openServices(readConfig({ ...store.env, LETHE_STORE: `sqlite:${path}` }))
  const days = Math.floor(windowFor(aged, subjects))
  const retentionDays = { ...services.retentionDays, pro: aged === 0 ? 36_500 : days }
  // Otherwise a shorter window would wait for a day. This also starts the writer thread, which is not
  // measured.
  const policy = { retentionDays, activityDays: services.activityDays }
  await services.retention.settleWindows({ policy, now: Date.now(), rule: 'immediately' })
  const from = performance.now()
  const swept = await sweepAged({ ...services, ...policy })
  const sweptMs = performance.now() - from
  await services.close()
  const rows = swept.events + swept.sessions
  const name = aged === 0 ? 'nothing' : `about ${aged.toLocaleString('en')} events`
  if (aged === 0) return figures.add(name, { rows, sweptMs })
  const bareMs = deleteAgedPlainly(copyStore(store, 'swept'), Date.now() - days * 86_400_000)
  const rates = { rowsPerSecond: rows / (sweptMs / 1_000), bareRowsPerSecond: rows / (bareMs / 1_000) }
  figures.add(name, { rows, sweptMs, bareMs, ...rates, ratio: bareMs / sweptMs })
}

/** Shortens the plan of a running service. */
async function readsDuringSweep(
  { size, lifetime }: Bench<SweepSize>,
  store: BenchStore,
  subjects: number,
): Promise<Group> {
  const days = Math.max(1, Math.floor(windowFor(size.agedMeanwhile, subjects)))
  const env = { ...store.env, LETHE_RETENTION_DAYS: `pro=36500,free=${days}`, LETHE_SWEEP_SECONDS: '1' }
  const { promise: swept, resolve } = Promise.withResolvers<string>()
  const server = await startLethe(lifetime, env, (line) => line.includes('"msg":"swept"') && resolve(line))
  const services = await openServices(readConfig(env))
  const figures = new Figures()
  const readers = { server, key: store.key, subjects, quietSeconds: size.quietSeconds }
  const sweep = async () => {
    await services.organisations.setPlan(organisation, 'free')
    const { retention, retentionDays, activityDays } = services
    const policy = { retentionDays, activityDays }
    await retention.settleWindows({ policy, now: Date.now(), rule: 'immediately' })
    await swept
  }
  await readsMeanwhile(readers, 'during the sweep', sweep, figures)
  await services.close()
  await server.stop()
  const { sessions, events, durationMs }: Record<string, number> = JSON.parse(await swept)
  const notes = [
    `200 reads a second, while ${events} events and ${sessions} sessions are swept in ${durationMs} ms.`,
  ]
  return { name: 'reads meanwhile', rows: figures.rows(), notes }
}
