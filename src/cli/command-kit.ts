import { setTimeout as delay } from 'node:timers/promises'
import { CommanderError, InvalidArgumentError } from 'commander'
import { type Config, ConfigError } from '../config.ts'
import { type ErrorCode, type FieldProblem, LetheError } from '../domain/errors.ts'
import { type Instant, instantRule, parseInstant } from '../domain/instant.ts'
import type { MaintenanceStore } from '../domain/maintenance.ts'
import type { Services, ServicesWithoutSecrets } from '../domain/services.ts'
import { MissingStore, type Store } from '../domain/store.ts'
import { counted } from './progress.ts'
import { type Terminal, UsageError } from './terminal.ts'

type BareStore = Store & Pick<Services, 'clock'>

/** What every command is handed. */
export interface CommandKit {
  terminal: Terminal
  config(): Config
  /** Says that the command could not do all of its work: exit code 1. */
  fail(): void
  /** The one JSON object of a command that has something to say even when it fails; `error` is then added to it. */
  summarise(summary: object): void
  /**
   * Opens the configured store for as long as `work` takes, without the secrets it belongs to. It must be there: a mistyped address is
   * no empty store.
   */
  withStore<Result>(work: (services: ServicesWithoutSecrets) => Promise<Result>): Promise<Result>
  /** The same with the secrets, for commands that cannot do without. People are told of one that is made. */
  withSecrets<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** The same with a thread that writes, for what has much else to do meanwhile. */
  withSecretsAndThread<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** As `withStore`, for the few commands that make one where there is none, and its secret; people are told where. */
  ensureStore<Result>(work: (services: ServicesWithoutSecrets) => Promise<Result>): Promise<Result>
  /** Opens any store for as long as `work` takes, without the secrets it belongs to. */
  withStoreAt<Result>(
    address: Config['store'],
    options: { create: boolean },
    work: (store: BareStore) => Promise<Result>,
  ): Promise<Result>
}

/** How many at most: a whole number, or `all`. */
export function readLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It takes a whole number from 1 on, or all.')
  return Number(text)
}

export function readInstantOption(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new InvalidArgumentError(`It takes ${instantRule}.`)
  return instant
}

/** Why a command failed, as `--json` prints it. */
interface Failure {
  code: ErrorCode | 'usage_error' | 'configuration_error' | 'missing_store' | 'failed'
  message: string
  details?: readonly FieldProblem[]
}

/** What an error means to whoever ran the command; `null` for the help and the version, which are none. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return null
    const isHelp = error.code === 'commander.help'
    const message = isHelp ? 'A command is missing.' : error.message.replace(/^error: /, '')
    return { code: 'usage_error', message }
  }
  if (error instanceof LetheError) {
    const { code, message, details } = error
    if (details.length === 0) return { code, message }
    return { code, message: details.map((problem) => problem.message).join('; '), details }
  }
  return { code: codeOf(error), message: error instanceof Error ? error.message : String(error) }
}

/** The exit code of a failed command: 1, or 2 when it was used wrongly. */
export function exitCodeOf({ code }: Failure): number {
  return code === 'usage_error' || code === 'configuration_error' ? 2 : 1
}

function codeOf(error: unknown): Failure['code'] {
  if (error instanceof UsageError) return 'usage_error'
  if (error instanceof ConfigError) return 'configuration_error'
  return error instanceof MissingStore ? 'missing_store' : 'failed'
}

/** Tells people what a command did while it opened the secrets of a store. */
export function secretReports({ tell }: Terminal) {
  return {
    onSecretMade: (path: string) =>
      tell(`Made a new secret at ${path}. Keep a copy of it, apart from the backups of the store.`),
    onLedgersAdopted: (count: number) =>
      tell(
        `Authenticated ${counted(count, 'ledger')} that version 0.2 wrote. This happens once, after the upgrade: if you see it again, somebody has changed the store.`,
      ),
  }
}

const lookAgainMs = 100

/** Does work that only one process may do at a time; while another is at it, says so and waits. */
export async function whenAlone<Result>(
  { tell }: Terminal,
  maintenance: MaintenanceStore,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    const done = await maintenance.withMaintenanceLock(async () => ({ result: await work() }))
    if (done) return done.result
    if (tries === 0) tell('Another process is sweeping, scrubbing or copying; waiting for it.')
    await delay(lookAgainMs)
  }
}
