// Reads of variables, each compared with a route of Node's own server that returns the same body, in
// interleaved rounds.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { editVariables } from '../../src/operations/variable.ts'
import { createVariableToken } from '../../src/operations/variable-token.ts'
import { openServices } from '../../src/start.ts'
import type { BareAnswer } from '../baselines/bare-server.ts'
import type { Bench } from '../bench.ts'
import { measureRound } from '../load/load.ts'
import { startLethe, startProcess } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { VariablesSize } from '../sizes.ts'
import { emptyStore } from '../stores/empty-store.ts'
import { tracker } from '../stores/visits.ts'

export async function measureVariables({
  size,
  load,
  lifetime,
  tell,
}: Bench<VariablesSize>): Promise<Group[]> {
  const { folder, env } = await emptyStore(lifetime)
  const path = `/v1/variables?token=${await fill(env, size.variables)}`
  const lethe = await startLethe(lifetime, env)
  const sample = await fetch(lethe.url + path)
  const etag = sample.headers.get('etag') ?? ''
  const body: unknown = await sample.json()
  const file = join(folder, 'bare.json')
  const answers: BareAnswer[] = [200, 304].map((status) => ({
    ...{ place: String(status), method: 'GET', status, body },
  }))
  writeFileSync(file, JSON.stringify(answers))
  const bare = await startProcess(lifetime, 'benchmarks/baselines/bare-server.ts', ['node:http', file], {})
  const figures = new Figures()
  for (let round = -size.warmUps; round < size.rounds; round++) {
    tell(`variables, round ${round + 1} of ${size.rounds}`)
    for (const status of [200, 304]) {
      const headers: Record<string, string> = status === 304 ? { 'if-none-match': etag } : {}
      const demand = { ...size, method: 'GET' as const, headers }
      const known = await measureRound(load, bare, { ...demand, paths: [`/${status}/`] })
      const { requests: _, ...measured } = await measureRound(load, lethe, { ...demand, paths: [path] })
      if (round < 0) continue
      figures.add(String(status), {
        ...measured,
        bareRequestsPerSecond: known.requestsPerSecond,
        ratio: measured.requestsPerSecond / known.requestsPerSecond,
        cpuRatio: known.cpuMicros && measured.cpuMicros ? known.cpuMicros / measured.cpuMicros : null,
      })
    }
  }
  const bytes = Buffer.byteLength(JSON.stringify(body))
  return [
    { name: 'variables', rows: figures.rows(), notes: [`${size.variables} variables, ${bytes} bytes.`] },
  ]
}

/** A token of a tracker with this many variables. */
async function fill(env: Record<string, string>, count: number): Promise<string> {
  const services = await openServices(readConfig(env))
  try {
    const variables = Array.from({ length: count }, (_, number): [string, unknown] => [
      `feature.${number}`,
      number % 2 === 0 ? { enabled: true, share: number / count } : `the text of number ${number}`,
    ])
    await editVariables(services, tracker, { apply: () => new Map(variables) })
    return (await createVariableToken(services, { trackerId: tracker, name: 'bench' })).tokenString
  } finally {
    await services.close()
  }
}
