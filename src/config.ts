import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { readKeyId } from './domain/api-key.ts'
import type { ApiBudgetName, Budget } from './domain/budget.ts'
import { nearest } from './domain/errors.ts'
import {
  defaultActivityDays,
  defaultRetentionDays,
  isPlan,
  maxRetentionDays,
  plans,
  type RetentionDays,
} from './domain/retention.ts'
import { hideSecrets, parseSecret } from './domain/secret.ts'
import { type LimiterAddress, parseLimiterAddress } from './limiter/limiter-address.ts'
import { parseStoreAddress, type StoreAddress } from './storage/open-store.ts'

export interface Config {
  host: string
  port: number
  store: StoreAddress
  limiter: LimiterAddress
  budgets: Record<ApiBudgetName, Budget>
  /** How far apart the erasures of a batch are at least. */
  batchPaceMs: number
  trustedProxies: string[]
  /** How many clients may be connected concurrently. */
  maxConnections: number
  /** The longest line of an import. */
  maxLineBytes: number
  /** Where browsers reach the console, without a slash at its end; `null` when nobody said. */
  publicUrl: string | null
  retentionDays: RetentionDays
  /** How many days the activity is kept. */
  activityDays: number
  /** How often the service sweeps what has aged out. */
  sweepSeconds: number
  /** Where the installation's secrets are; `null` for the place that goes with the store. */
  secretFile: string | null
  /** The file of the journal; `null` when none is kept. */
  journal: string | null
  /** Where answers wait on the disk for slow clients; `null` for the system's folder for temporary files. */
  spoolFolder: string | null
  /** What the names of all ledgers begin with. */
  ledgerOrigin: string
  /** How many days tombstones are kept at least; `null` for as long as any plan keeps anything, and 30. */
  tombstoneDays: number | null
  /** The hour (UTC) of the nightly scrub. */
  scrubHour: number | 'off'
  metricsHost: string
  metricsPort: number | 'off'
  logLevel: LogLevel
  /** Where the service is that remote commands ask; empty when nobody said. */
  apiUrl: string
  /** The key string they ask it with; empty when nobody said. */
  apiKey: string
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

/** Every variable of the environment that means something to Lethe: its default and what it takes. */
export const variables = {
  LETHE_HOST: { fallback: '127.0.0.1', takes: 'an IP address or a host name to listen on' },
  LETHE_PORT: { fallback: '8080', takes: 'a port from 0 (any free one) to 65535' },
  LETHE_STORE: { fallback: 'sqlite:data/lethe.db', takes: 'sqlite:PATH or postgres://…' },
  LETHE_LIMITER: { fallback: 'memory', takes: 'memory, redis://HOST:PORT or rediss://HOST:PORT' },
  LETHE_LIMIT_IP: {
    fallback: '60/minute',
    takes: 'a budget such as 60/minute (per second, minute, hour or day)',
  },
  LETHE_LIMIT_KEY: {
    fallback: '120/minute',
    takes: 'a budget such as 120/minute (per second, minute, hour or day)',
  },
  LETHE_LIMIT_ERASURE: {
    fallback: '60/hour',
    takes: 'a budget such as 60/hour (per second, minute, hour or day)',
  },
  LETHE_BATCH_PACE: {
    fallback: '600/minute',
    takes: 'the pace of a batch, such as 600/minute (per second, minute, hour or day)',
  },
  LETHE_TRUSTED_PROXIES: { fallback: '', takes: 'IP addresses or CIDR ranges, separated by commas' },
  LETHE_MAX_CONNECTIONS: { fallback: '10000', takes: 'a whole number from 10 to 1000000' },
  LETHE_MAX_LINE_KIB: { fallback: '256', takes: 'a whole number of KiB from 1 to 1024' },
  LETHE_PUBLIC_URL: {
    fallback: '',
    takes: 'the address for browsers, such as https://lethe.example',
  },
  LETHE_RETENTION_DAYS: {
    fallback: plans.map((plan) => `${plan}=${defaultRetentionDays[plan]}`).join(','),
    takes: `days from 1 to ${maxRetentionDays} for one or more plans, such as free=180,pro=730`,
  },
  LETHE_ACTIVITY_DAYS: {
    fallback: String(defaultActivityDays),
    takes: `whole days from 1 to ${maxRetentionDays}`,
  },
  LETHE_SECRET_FILE: { fallback: '', takes: "the path of the file with the installation's secrets" },
  LETHE_JOURNAL: {
    fallback: '',
    takes: 'the path of the journal file',
  },
  LETHE_SPOOL_DIR: {
    fallback: '',
    takes: 'the path of a folder on disk, for exports to slow clients',
  },
  LETHE_LEDGER_ORIGIN: {
    fallback: 'lethe.local',
    takes: 'the first part of ledger names, such as lethe.example, without spaces and plus signs',
  },
  LETHE_TOMBSTONE_DAYS: {
    fallback: '',
    takes: `whole days from 1 to ${maxRetentionDays}; at least 30 and the longest window apply`,
  },
  LETHE_SWEEP_SECONDS: { fallback: '60', takes: 'whole seconds from 1 to 86400' },
  LETHE_SCRUB_HOUR: { fallback: '3', takes: 'an hour from 0 to 23 (UTC), or off' },
  LETHE_METRICS_PORT: { fallback: 'off', takes: 'a port from 0 (any free one) to 65535, or off' },
  LETHE_METRICS_HOST: { fallback: '127.0.0.1', takes: 'an IP address or a host name to listen on' },
  LETHE_LOG_LEVEL: { fallback: 'info', takes: logLevels.join(', ') },
  LETHE_URL: { fallback: '', takes: 'an http or https address, such as http://127.0.0.1:8080' },
  LETHE_API_KEY: { fallback: '', takes: 'the complete string of an API key, lethe_…' },
} as const

type Variable = keyof typeof variables

/** What may hold a password, a key or a secret, also where it cannot be read. */
const confidential: readonly string[] = [
  'LETHE_STORE',
  'LETHE_LIMITER',
  'LETHE_PUBLIC_URL',
  'LETHE_URL',
  'LETHE_SECRET_FILE',
  'LETHE_API_KEY',
] satisfies Variable[]

/** A configuration that will not do; its message is one line that names the variable, what it got and what it takes. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Variables of the tests begin so, and say nothing to the program. */
const testPrefix = 'LETHE_TEST_'

/** A mistyped name would leave its default in force without a word, were it the store's or a window's. */
function unknownVariables(env: NodeJS.ProcessEnv): { name: string; problem: string }[] {
  const known = Object.keys(variables)
  return Object.keys(env)
    .filter((name) => name.startsWith('LETHE_') && !known.includes(name) && !name.startsWith(testPrefix))
    .map((name) => (/^\w+$/.test(name) ? name : JSON.stringify(name)))
    .map((name) => ({
      name,
      problem: `${name} is no variable of Lethe; the nearest is ${nearest(name, known)}.`,
    }))
}

/** Reads the configuration once. Nobody else reads the environment. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const [unknown] = unknownVariables(env)
  if (unknown) throw new ConfigError(unknown.problem)
  return assemble((variable, parse) => {
    const { text } = given(env, variable)
    const value = parse(text)
    if (value === null) throw new ConfigError(complaint(variable, text))
    return value
  })
}

/** A variable as it may be shown: what it is, where that comes from, and what is wrong with it. */
export interface Setting {
  /** Its name; also of one that is none of ours, and should not be there. */
  variable: string
  /** Without what is secret; `null` for nothing. */
  value: string | null
  source: 'environment' | 'default'
  problem: string | null
}

/** Every variable as `readConfig` would take it, the wrong ones too. */
export function explainConfig(env: NodeJS.ProcessEnv): Setting[] {
  const settings: Setting[] = []
  assemble((variable, parse) => {
    const { text, source } = given(env, variable)
    const value = parse(text)
    const problem = value === null ? complaint(variable, text) : null
    settings.push({ variable, value: shown(variable, text, value !== null) || null, source, problem })
    const usable = value ?? parse(variables[variable].fallback)
    if (usable === null) throw new Error(`The default of ${variable} will not do.`)
    return usable
  })
  const order = Object.keys(variables)
  settings.sort((a, b) => order.indexOf(a.variable) - order.indexOf(b.variable))
  const unknown = unknownVariables(env).map(({ name, problem }): Setting => {
    return { variable: name, value: null, source: 'environment', problem }
  })
  return [...settings, ...unknown]
}

type Read = <Value>(variable: Variable, parse: (text: string) => Value | null) => Value

/** What a variable is given, and by whom; an empty one counts as not set. */
function given(env: NodeJS.ProcessEnv, variable: Variable): { text: string } & Pick<Setting, 'source'> {
  const text = env[variable]?.trim()
  return text ? { text, source: 'environment' } : { text: variables[variable].fallback, source: 'default' }
}

function complaint(variable: Variable, text: string): string {
  return refusal(variable, text, confidential.includes(variable), variables[variable].takes)
}

function refusal(name: string, text: string, isConfidential: boolean, takes: string): string {
  const part = repeatable(text, isConfidential)
  const got = part === '…' ? 'a value that is not shown because it may hold a password' : JSON.stringify(part)
  return `${name} is ${got}; it takes ${takes}.`
}

/** A value without what is secret: of a key its id is left, of an address where it leads. */
function shown(variable: Variable, text: string, isGood: boolean): string {
  if (variable === 'LETHE_API_KEY') return text && `lethe_${readKeyId(text) ?? ''}…`
  if (!isGood) return repeatable(text, confidential.includes(variable))
  return text.includes('://') ? hideSecrets(text) : text
}

/** Every setting out of its variables, each read once. */
function assemble(read: Read): Config {
  const readBudget = (variable: Variable, name: ApiBudgetName) =>
    read(variable, (text) => parseBudget(name, text))
  return {
    host: read('LETHE_HOST', parseHost),
    port: read('LETHE_PORT', (text) => parseInteger(text, 0, 65_535)),
    store: read('LETHE_STORE', parseStoreAddress),
    limiter: read('LETHE_LIMITER', parseLimiterAddress),
    budgets: {
      ip: readBudget('LETHE_LIMIT_IP', 'ip'),
      key: readBudget('LETHE_LIMIT_KEY', 'key'),
      erasure: readBudget('LETHE_LIMIT_ERASURE', 'erasure'),
    },
    batchPaceMs: read('LETHE_BATCH_PACE', parsePace),
    trustedProxies: read('LETHE_TRUSTED_PROXIES', parseProxies),
    maxConnections: read('LETHE_MAX_CONNECTIONS', (text) => parseInteger(text, 10, 1_000_000)),
    maxLineBytes: 1024 * read('LETHE_MAX_LINE_KIB', (text) => parseInteger(text, 1, 1024)),
    publicUrl: read('LETHE_PUBLIC_URL', parsePublicUrl) || null,
    retentionDays: read('LETHE_RETENTION_DAYS', parseRetentionDays),
    activityDays: read('LETHE_ACTIVITY_DAYS', (text) => parseInteger(text, 1, maxRetentionDays)),
    // The path of a file is repeated in errors; the secret itself, given in its place, must not be.
    secretFile: read('LETHE_SECRET_FILE', (text) => (parseSecret(text) ? null : parsePath(text))) || null,
    journal: read('LETHE_JOURNAL', parsePath) || null,
    spoolFolder: read('LETHE_SPOOL_DIR', parsePath) || null,
    ledgerOrigin: read('LETHE_LEDGER_ORIGIN', (text) => (/^[!-*,-~]{1,200}$/.test(text) ? text : null)),
    tombstoneDays:
      read('LETHE_TOMBSTONE_DAYS', (text) => (text === '' ? 0 : parseInteger(text, 1, maxRetentionDays))) ||
      null,
    sweepSeconds: read('LETHE_SWEEP_SECONDS', (text) => parseInteger(text, 1, 86_400)),
    scrubHour: read('LETHE_SCRUB_HOUR', (text) => (text === 'off' ? text : parseInteger(text, 0, 23))),
    metricsHost: read('LETHE_METRICS_HOST', parseHost),
    metricsPort: read('LETHE_METRICS_PORT', (text) =>
      text === 'off' ? text : parseInteger(text, 0, 65_535),
    ),
    logLevel: read('LETHE_LOG_LEVEL', (text) => logLevels.find((level) => level === text) ?? null),
    apiUrl: read('LETHE_URL', (text) => (text === '' || isServiceUrl(text) ? text : null)),
    apiKey: read('LETHE_API_KEY', (text) => (text === '' || readKeyId(text) !== null ? text : null)),
  }
}

function parsePath(text: string): string | null {
  return text.includes('\0') ? null : text
}

function parseHost(text: string): string | null {
  return /^[0-9A-Za-z.:_-]+$/.test(text) ? text : null
}

/** Reads the address of a store in an option of a command. */
export function readStoreAddress(option: string, text: string): StoreAddress {
  const address = parseStoreAddress(text)
  if (address) return address
  throw new ConfigError(refusal(option, text, true, variables.LETHE_STORE.takes))
}

const windowMs = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }

function parseBudget(name: ApiBudgetName, text: string): Budget | null {
  const rate = parseRate(text)
  return rate && { name, ...rate }
}

function parsePace(text: string): number | null {
  const rate = parseRate(text)
  return rate && rate.windowMs / rate.limit
}

function parseRate(text: string): Pick<Budget, 'limit' | 'windowMs'> | null {
  const [, count, unit] = /^([1-9]\d{0,8})\/(second|minute|hour|day)$/.exec(text) ?? []
  if (unit !== 'second' && unit !== 'minute' && unit !== 'hour' && unit !== 'day') return null
  return { limit: Number(count), windowMs: windowMs[unit] }
}

/** A whole number within bounds, both included. */
function parseInteger(text: string, least: number, most: number): number | null {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : null
  return number !== null && number >= least && number <= most ? number : null
}

/** The plans it names get the days it gives them; the others keep theirs. */
function parseRetentionDays(text: string): RetentionDays | null {
  const days = { ...defaultRetentionDays }
  const named = new Set<string>()
  for (const entry of text.split(',')) {
    const [plan = '', count = '', ...rest] = entry.split('=').map((part) => part.trim())
    const number = parseInteger(count, 1, maxRetentionDays)
    if (!isPlan(plan) || number === null || named.has(plan) || rest.length > 0) return null
    named.add(plan)
    days[plan] = number
  }
  return days
}

function parseProxies(text: string): string[] | null {
  const proxies = text
    .split(',')
    .map((proxy) => proxy.trim())
    .filter((proxy) => proxy !== '')
  return proxies.every(isAddressOrRange) ? proxies : null
}

/** The origin of an address without path, query or password; `''` where there is none. */
function parsePublicUrl(text: string): string | null {
  if (text === '') return text
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url.origin : null
}

/** Strictly: a shorthand such as 10/8 could mean another range than was meant, and /0 would believe everybody. */
function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d*$/.test(bits) && ipaddr.isValidCIDR(text))
}

/** Nothing but an origin and, behind a proxy, a path: a password or a query would be sent nowhere. */
function isServiceUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return [url.username, url.password, url.search, url.hash].every((part) => part === '')
}

/** What may be repeated of a value that cannot be read: of one that may hold a password its scheme, if it has one. */
function repeatable(text: string, isConfidential: boolean): string {
  // With an at sign it may be an address with a password, only given to another variable.
  const mayHoldPassword = isConfidential || /^[\w+.-]+:\/\/|@/.test(text)
  return mayHoldPassword ? `${/^[a-z+]+:\/\/?/.exec(text) ?? ''}…` : text
}
