import assert from 'node:assert/strict'
import {
  type ApiAnswer,
  type CommandLine,
  callApi,
  onlyJson,
  type RunningProgram,
  startServe,
  textOf,
} from '../../support/command-line.ts'
import { type Lifetime, startTestService, type TestService } from '../../support/service.ts'
import type { KillableStore } from './killable-store.ts'

/** A key with every scope for the shop. */
export async function createKey(cli: CommandLine, name = 'all'): Promise<string> {
  const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests']
  const args = ['keys', 'create', '--org', 'acme', '--name', name, '--json', '--scope', ...scopes]
  return textOf(onlyJson(await cli.run(args)), 'key')
}

const plenty = '1000000/day'

/** Budgets that are never reached. */
export const ampleBudgets = {
  LETHE_LIMIT_IP: plenty,
  LETHE_LIMIT_KEY: plenty,
  LETHE_LIMIT_ERASURE: plenty,
  LETHE_LIMIT_VARIABLES: plenty,
}

/** Starts the next service on a store, in this process, which is faster. Its clock may be ahead. */
export function startNextService(
  lifetime: Lifetime,
  { work }: KillableStore,
  { env = {}, shiftMs = 0 }: { env?: Record<string, string>; shiftMs?: number } = {},
): Promise<TestService> {
  return startTestService(lifetime, { LETHE_STORE: work.address, ...ampleBudgets, ...env }, { shiftMs })
}

export function startRoomyServer(cli: CommandLine, env: Record<string, string> = {}) {
  return startServe(cli, { ...ampleBudgets, ...env })
}

export async function stopServer(server: RunningProgram): Promise<void> {
  server.kill('SIGTERM')
  assert.equal((await server.ended).code, 0)
}

function erase(url: string, key: string, id: string): Promise<ApiAnswer> {
  return callApi(`${url}/v1/analytics/trackers/shop/subjects/${encodeURIComponent(id)}`, key, 'DELETE')
}

/** Sends all erasures concurrently and returns those that were answered. A killed server does not answer. */
export async function eraseAll(url: string, key: string, subjectIds: readonly string[]): Promise<string[]> {
  const answered: string[] = []
  async function tryToErase(id: string): Promise<void> {
    const answer = await erase(url, key, id).catch(() => null)
    if (answer === null) return
    assert.equal(answer.status, 200)
    answered.push(id)
  }
  await Promise.all(subjectIds.map(tryToErase))
  return answered
}

/** Erases subjects one by one. Each answer must report correctly whether anything was left. */
export async function eraseAgain(
  url: string,
  key: string,
  subjectIds: readonly string[],
  isLeft: (id: string) => boolean,
): Promise<void> {
  for (const id of subjectIds) {
    const { status, data } = await erase(url, key, id)
    assert.deepEqual([status, data.alreadyErased], [200, !isLeft(id)])
  }
}
