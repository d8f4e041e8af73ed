import type { Scope } from '../../src/domain/api-key.ts'
import { type CommandLine, commandLine, type LocalOutcome } from './command-line.ts'
import type { Lifetime } from './service.ts'
import { type Shop, startShop } from './shop.ts'

/** A running shop, and a command line elsewhere with its address and a key. */
export interface RemoteShop extends Shop {
  cli: CommandLine
  env: Record<string, string>
  /** Runs a command of `lethe subjects`, on a terminal only if `answers` is given. */
  subjects(args: readonly string[], options?: { answers?: readonly string[] }): Promise<LocalOutcome>
  /** The same for `lethe requests`. */
  requests(args: readonly string[], options?: { answers?: readonly string[] }): Promise<LocalOutcome>
}

export async function startRemoteShop(
  t: Lifetime,
  {
    scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests'],
    env: serviceEnv = {},
  }: { scopes?: readonly Scope[]; env?: Record<string, string> } = {},
): Promise<RemoteShop> {
  // The smallest of the budgets, so that batches follow it, but large enough that they never wait.
  const budgets = { LETHE_LIMIT_ERASURE: '500000/hour', ...serviceEnv }
  const shop = await startShop(t, { scopes, env: budgets })
  const cli = commandLine(t)
  const env = { LETHE_URL: shop.url, LETHE_API_KEY: shop.key }
  const run = (words: readonly string[], { answers }: { answers?: readonly string[] } = {}) =>
    cli.run(words, { env, ...(answers && { answers, columns: () => 80 }) })
  return {
    ...{ ...shop, cli, env },
    subjects: (args, options) => run(['subjects', ...args], options),
    requests: (args, options) => run(['requests', ...args], options),
  }
}
