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

/** What every command receives. */
export interface CommandKit {
  terminal: Terminal
  config(): Config
  /** Records that part of the work failed: exit code 1. */
  fail(): void
  /** Sets the JSON object that the command prints even if it fails; `error` is then added to it. */
  summarise(summary: object): void
  /** Opens the configured store, without its secrets, while `work` runs. A missing store is an error. */
  withStore<Result>(work: (services: ServicesWithoutSecrets) => Promise<Result>): Promise<Result>
  /** The same, with the secrets. Reports a secret that it creates. */
  withSecrets<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** The same, with a writer thread, for commands that do other work while they write. */
  withSecretsAndThread<Result>(work: (services: Services) => Promise<Result>): Promise<Result>
  /** As `withStore`, but creates and reports a missing store and its secret. */
  ensureStore<Result>(work: (services: ServicesWithoutSecrets) => Promise<Result>): Promise<Result>
  /** Opens any store, without its secrets, while `work` runs. */
  withStoreAt<Result>(
    address: Config['store'],
    options: { create: boolean },
    work: (store: BareStore) => Promise<Result>,
  ): Promise<Result>
}

/** Parses a maximum: a whole number, or `all`. */
export function readLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('Expected a whole number of at least 1, or all.')
  return Number(text)
}

export function readInstantOption(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new InvalidArgumentError(`Expected ${instantRule}.`)
  return instant
}

/** Why a command failed, as `--json` prints it. */
interface Failure {
  code: ErrorCode | 'usage_error' | 'configuration_error' | 'missing_store' | 'failed'
  message: string
  details?: readonly FieldProblem[]
}

/** Describes an error to the user; `null` for the help and the version, which are not failures. */
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

/** The exit code of a failed command: 2 for incorrect usage, otherwise 1. */
export function exitCodeOf({ code }: Failure): number {
  return code === 'usage_error' || code === 'configuration_error' ? 2 : 1
}

function codeOf(error: unknown): Failure['code'] {
  if (error instanceof UsageError) return 'usage_error'
  if (error instanceof ConfigError) return 'configuration_error'
  return error instanceof MissingStore ? 'missing_store' : 'failed'
}

/** Reports what a command did while it opened the secrets of a store. */
export function secretReports({ tell }: Terminal) {
  return {
    onSecretMade: (path: string) =>
      tell(`Created a secret at ${path}. Keep a copy of it, separate from backups of the store.`),
    onLedgersAdopted: (count: number) =>
      tell(
        `Authenticated ${counted(count, 'ledger')} written by version 0.2. This happens once, after the upgrade. If you see it again, someone has modified the store.`,
      ),
  }
}

const retryEveryMs = 100

/** Does work that only one process may do at a time. Waits for other processes, and says so. */
export async function waitForMaintenanceLock<Result>(
  { tell }: Terminal,
  maintenance: MaintenanceStore,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    const done = await maintenance.withMaintenanceLock(async () => ({ result: await work() }))
    if (done) return done.result
    if (tries === 0) tell('Waiting for another process that is sweeping, scrubbing or copying.')
    await delay(retryEveryMs)
  }
}
