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
import { parseRoleMapping, type RoleMapping } from './domain/role-mapping.ts'
import { hideSecrets, parseSecret } from './domain/secret.ts'
import { type LimiterAddress, parseLimiterAddress } from './limiter/limiter-address.ts'
import {
  type OtlpConfig,
  parseEndpoint,
  parseOptionalEndpoint,
  parseShare,
  parseSignals,
  samplers,
  signalUrl,
} from './otlp/otlp-settings.ts'
import { parseStoreAddress, type StoreAddress } from './storage/open-store.ts'

export interface Config {
  host: string
  port: number
  /** The port of the Variables API; `main` if it shares that of the other services. */
  variablesPort: number | 'main'
  store: StoreAddress
  limiter: LimiterAddress
  budgets: Record<ApiBudgetName, Budget>
  /** The minimum interval between erasures that members start. */
  batchPaceMs: number
  trustedProxies: string[]
  maxConnections: number
  /** The maximum length of an import line. */
  maxLineBytes: number
  /** The console's base URL without a trailing slash; `null` if not set. */
  publicUrl: string | null
  retentionDays: RetentionDays
  activityDays: number
  /** `null` without an identity provider. */
  singleSignOn: SingleSignOnConfig | null
  sweepSeconds: number
  /** `null` for the default location next to the store. */
  secretFile: string | null
  /** `null` if there is no journal. */
  journal: string | null
  /** Where responses to slow clients are buffered on disk; `null` for the system's temporary folder. */
  spoolFolder: string | null
  /** The prefix of all ledger names. */
  ledgerOrigin: string
  /** A minimum; `null` for the longest window of any plan plus 30 days. */
  tombstoneDays: number | null
  /** The hour (UTC) of the nightly scrub. */
  scrubHour: number | 'off'
  metricsHost: string
  metricsPort: number | 'off'
  /** `null` if nothing is exported over OTLP. */
  otlp: OtlpConfig | null
  logLevel: LogLevel
  /** The service that remote commands call; empty if not set. */
  apiUrl: string
  /** The API key of remote commands; empty if not set. */
  apiKey: string
}

interface SingleSignOnConfig {
  issuer: string
  clientId: string
  /** `null` for a public client. */
  clientSecretFile: string | null
  scopes: string
  /** The name of the provider on the sign-in page. */
  name: string
  roleClaim: string
  /** `null` if the provider does not determine roles. */
  roles: RoleMapping | null
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

/** Every environment variable, with its default and the values that it accepts. */
export const variables = {
  LETHE_HOST: { fallback: '127.0.0.1', accepts: 'an IP address or a host name to listen on' },
  LETHE_PORT: { fallback: '8080', accepts: 'a port from 0 (any free one) to 65535' },
  LETHE_VARIABLES_PORT: {
    fallback: '',
    accepts: 'a port from 0 (any free one) to 65535, for the Variables API alone',
  },
  LETHE_STORE: { fallback: 'sqlite:data/lethe.db', accepts: 'sqlite:PATH or postgres://…' },
  LETHE_LIMITER: { fallback: 'memory', accepts: 'memory, redis://HOST:PORT or rediss://HOST:PORT' },
  LETHE_LIMIT_IP: {
    fallback: '60/minute',
    accepts: 'a budget such as 60/minute (per second, minute, hour or day)',
  },
  LETHE_LIMIT_KEY: {
    fallback: '120/minute',
    accepts: 'a budget such as 120/minute (per second, minute, hour or day)',
  },
  LETHE_LIMIT_ERASURE: {
    fallback: '60/hour',
    accepts: 'a budget such as 60/hour (per second, minute, hour or day)',
  },
  LETHE_LIMIT_VARIABLES: {
    fallback: '6000/minute',
    accepts: 'a budget such as 6000/minute (per second, minute, hour or day)',
  },
  LETHE_BATCH_PACE: {
    fallback: '600/minute',
    accepts: 'the pace of erasures from the console, such as 600/minute (per second, minute, hour or day)',
  },
  LETHE_TRUSTED_PROXIES: { fallback: '', accepts: 'IP addresses or CIDR ranges, separated by commas' },
  LETHE_MAX_CONNECTIONS: { fallback: '10000', accepts: 'a whole number from 10 to 1000000' },
  LETHE_MAX_LINE_KIB: { fallback: '256', accepts: 'a whole number of KiB from 1 to 1024' },
  LETHE_PUBLIC_URL: {
    fallback: '',
    accepts: 'the address for browsers, such as https://lethe.example',
  },
  LETHE_OIDC_ISSUER: {
    fallback: '',
    accepts:
      'the issuer of an identity provider, an https address (http only for localhost), together with LETHE_OIDC_CLIENT_ID',
  },
  LETHE_OIDC_CLIENT_ID: {
    fallback: '',
    accepts: 'the client ID of Lethe at the identity provider, of at most 200 characters',
  },
  LETHE_OIDC_CLIENT_SECRET_FILE: {
    fallback: '',
    accepts: 'the path of the file with the client secret',
  },
  LETHE_OIDC_SCOPES: { fallback: 'openid email', accepts: 'scopes separated by spaces, including openid' },
  LETHE_OIDC_NAME: {
    fallback: 'single sign-on',
    accepts: 'the name of the identity provider on the sign-in page, of at most 40 characters',
  },
  LETHE_OIDC_ROLE_CLAIM: { fallback: 'groups', accepts: 'a claim, such as groups or realm_access.roles' },
  LETHE_OIDC_ROLES: {
    fallback: '',
    accepts: 'values of that claim for roles, such as admin=lethe-admins,desk=privacy,viewer=*',
  },
  LETHE_RETENTION_DAYS: {
    fallback: plans.map((plan) => `${plan}=${defaultRetentionDays[plan]}`).join(','),
    accepts: `days from 1 to ${maxRetentionDays} for one or more plans, such as free=180,pro=730`,
  },
  LETHE_ACTIVITY_DAYS: {
    fallback: String(defaultActivityDays),
    accepts: `whole days from 1 to ${maxRetentionDays}`,
  },
  LETHE_SECRET_FILE: { fallback: '', accepts: "the path of the file with the installation's secrets" },
  LETHE_JOURNAL: {
    fallback: '',
    accepts: 'the path of the journal file',
  },
  LETHE_SPOOL_DIR: {
    fallback: '',
    accepts: 'the path of a folder on disk, for exports to slow clients',
  },
  LETHE_LEDGER_ORIGIN: {
    fallback: 'lethe.local',
    accepts: 'the first part of ledger names, such as lethe.example, without spaces and plus signs',
  },
  LETHE_TOMBSTONE_DAYS: {
    fallback: '',
    accepts: `whole days from 1 to ${maxRetentionDays}; at least 30 and the longest window apply`,
  },
  LETHE_SWEEP_SECONDS: { fallback: '60', accepts: 'whole seconds from 1 to 86400' },
  LETHE_SCRUB_HOUR: { fallback: '3', accepts: 'an hour from 0 to 23 (UTC), or off' },
  LETHE_METRICS_PORT: { fallback: 'off', accepts: 'a port from 0 (any free one) to 65535, or off' },
  LETHE_METRICS_HOST: { fallback: '127.0.0.1', accepts: 'an IP address or a host name to listen on' },
  LETHE_OTLP: { fallback: 'off', accepts: 'traces, metrics, traces,metrics or off' },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    fallback: 'http://localhost:4318',
    accepts: 'an http or https address, to which v1/traces and v1/metrics are added',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    fallback: '',
    accepts: 'the complete http or https address for traces',
  },
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: {
    fallback: '',
    accepts: 'the complete http or https address for metrics',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: { fallback: 'http/protobuf', accepts: 'http/protobuf' },
  OTEL_EXPORTER_OTLP_TIMEOUT: { fallback: '3000', accepts: 'milliseconds from 100 to 60000' },
  OTEL_SERVICE_NAME: { fallback: 'lethe', accepts: 'up to 255 characters' },
  OTEL_TRACES_SAMPLER: { fallback: 'parentbased_always_on', accepts: samplers.join(', ') },
  OTEL_TRACES_SAMPLER_ARG: { fallback: '1', accepts: 'a share from 0 to 1' },
  OTEL_METRIC_EXPORT_INTERVAL: { fallback: '60000', accepts: 'milliseconds from 100 to 3600000' },
  LETHE_LOG_LEVEL: { fallback: 'info', accepts: logLevels.join(', ') },
  LETHE_URL: { fallback: '', accepts: 'an http or https address, such as http://127.0.0.1:8080' },
  LETHE_API_KEY: { fallback: '', accepts: 'the complete string of an API key, lethe_…' },
} as const

type Variable = keyof typeof variables

/** Variables whose value may contain a password, a key or a secret, even if it is invalid. */
const confidential: readonly string[] = [
  'LETHE_STORE',
  'LETHE_LIMITER',
  'LETHE_PUBLIC_URL',
  'LETHE_URL',
  'LETHE_SECRET_FILE',
  'LETHE_OIDC_CLIENT_SECRET_FILE',
  'LETHE_API_KEY',
] satisfies Variable[]

/** An invalid configuration. The message is one line with the variable, its value and the accepted values. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Variables of the tests, which the program ignores. */
const testPrefix = 'LETHE_TEST_'

/** A mistyped name would silently leave the default in force, even for the store or a retention window. */
function unknownVariables(env: NodeJS.ProcessEnv): { name: string; problem: string }[] {
  const known = Object.keys(variables)
  return Object.keys(env)
    .filter((name) => name.startsWith('LETHE_') && !known.includes(name) && !name.startsWith(testPrefix))
    .map((name) => (/^\w+$/.test(name) ? name : JSON.stringify(name)))
    .map((name) => ({
      name,
      problem: `${name} is not a variable of Lethe; the nearest is ${nearest(name, known)}.`,
    }))
}

/** The only reader of the environment. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const [unknown] = unknownVariables(env)
  if (unknown) throw new ConfigError(unknown.problem)
  return assemble((variable, parse) => {
    const { text } = given(env, variable)
    const value = parse(text)
    if (value === null) throw new ConfigError(invalidValue(variable, text))
    return value
  })
}

interface Setting {
  /** May also be the name of an unknown variable. */
  variable: string
  /** Without secrets; `null` if empty. */
  value: string | null
  source: 'environment' | 'default'
  problem: string | null
}

/** Every variable as `readConfig` reads it, including invalid ones. */
export function explainConfig(env: NodeJS.ProcessEnv): Setting[] {
  const settings: Setting[] = []
  assemble((variable, parse) => {
    const { text, source } = given(env, variable)
    const value = parse(text)
    const problem = value === null ? invalidValue(variable, text) : null
    settings.push({ variable, value: shown(variable, text, value !== null) || null, source, problem })
    const usable = value ?? parse(variables[variable].fallback)
    if (usable === null) throw new Error(`The default of ${variable} is invalid.`)
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

/** An empty variable counts as not set. */
function given(env: NodeJS.ProcessEnv, variable: Variable): { text: string } & Pick<Setting, 'source'> {
  const text = env[variable]?.trim()
  return text ? { text, source: 'environment' } : { text: variables[variable].fallback, source: 'default' }
}

function invalidValue(variable: Variable, text: string): string {
  return refusal(variable, text, confidential.includes(variable), variables[variable].accepts)
}

function refusal(name: string, text: string, isConfidential: boolean, accepts: string): string {
  const part = repeatable(text, isConfidential)
  const got =
    part === '…' ? 'a value that is not shown because it may contain a password' : JSON.stringify(part)
  return `${name} is ${got}; it accepts ${accepts}.`
}

/** Removes secrets: of a key, only the ID remains; of an address, only the location. */
function shown(variable: Variable, text: string, isGood: boolean): string {
  if (variable === 'LETHE_API_KEY') return text && `lethe_${readKeyId(text) ?? ''}…`
  // It may be the secret instead of its path.
  if (variable === 'LETHE_OIDC_CLIENT_SECRET_FILE') return text && '…'
  if (!isGood) return repeatable(text, confidential.includes(variable))
  return text.includes('://') ? hideSecrets(text) : text
}

function assemble(read: Read): Config {
  const readBudget = (variable: Variable, name: ApiBudgetName) =>
    read(variable, (text) => parseBudget(name, text))
  return {
    host: read('LETHE_HOST', parseHost),
    port: read('LETHE_PORT', (text) => parseInteger(text, 0, 65_535)),
    variablesPort: read('LETHE_VARIABLES_PORT', (text) =>
      text === '' ? 'main' : parseInteger(text, 0, 65_535),
    ),
    store: read('LETHE_STORE', parseStoreAddress),
    limiter: read('LETHE_LIMITER', parseLimiterAddress),
    budgets: {
      ip: readBudget('LETHE_LIMIT_IP', 'ip'),
      key: readBudget('LETHE_LIMIT_KEY', 'key'),
      erasure: readBudget('LETHE_LIMIT_ERASURE', 'erasure'),
      variables: readBudget('LETHE_LIMIT_VARIABLES', 'variables'),
    },
    batchPaceMs: read('LETHE_BATCH_PACE', parsePace),
    trustedProxies: read('LETHE_TRUSTED_PROXIES', parseProxies),
    maxConnections: read('LETHE_MAX_CONNECTIONS', (text) => parseInteger(text, 10, 1_000_000)),
    maxLineBytes: 1024 * read('LETHE_MAX_LINE_KIB', (text) => parseInteger(text, 1, 1024)),
    publicUrl: read('LETHE_PUBLIC_URL', parsePublicUrl) || null,
    retentionDays: read('LETHE_RETENTION_DAYS', parseRetentionDays),
    activityDays: read('LETHE_ACTIVITY_DAYS', (text) => parseInteger(text, 1, maxRetentionDays)),
    // Errors show the path, so it must not be the secret itself.
    secretFile: read('LETHE_SECRET_FILE', (text) => (parseSecret(text) ? null : parsePath(text))) || null,
    journal: read('LETHE_JOURNAL', parsePath) || null,
    spoolFolder: read('LETHE_SPOOL_DIR', parsePath) || null,
    ledgerOrigin: read('LETHE_LEDGER_ORIGIN', (text) => (/^[!-*,-~]{1,200}$/.test(text) ? text : null)),
    tombstoneDays:
      read('LETHE_TOMBSTONE_DAYS', (text) => (text === '' ? 0 : parseInteger(text, 1, maxRetentionDays))) ||
      null,
    singleSignOn: readSingleSignOn(read),
    sweepSeconds: read('LETHE_SWEEP_SECONDS', (text) => parseInteger(text, 1, 86_400)),
    scrubHour: read('LETHE_SCRUB_HOUR', (text) => (text === 'off' ? text : parseInteger(text, 0, 23))),
    metricsHost: read('LETHE_METRICS_HOST', parseHost),
    metricsPort: read('LETHE_METRICS_PORT', (text) =>
      text === 'off' ? text : parseInteger(text, 0, 65_535),
    ),
    otlp: readOtlp(read),
    logLevel: read('LETHE_LOG_LEVEL', (text) => logLevels.find((level) => level === text) ?? null),
    apiUrl: read('LETHE_URL', (text) => (text === '' || isServiceUrl(text) ? text : null)),
    apiKey: read('LETHE_API_KEY', (text) => (text === '' || readKeyId(text) !== null ? text : null)),
  }
}

function readSingleSignOn(read: Read): SingleSignOnConfig | null {
  const clientId = read('LETHE_OIDC_CLIENT_ID', (text) => (/^[!-~]{0,200}$/.test(text) ? text : null))
  const issuer = read('LETHE_OIDC_ISSUER', (text) =>
    text === '' || (isIssuer(text) && clientId !== '') ? text : null,
  )
  const settings = {
    clientSecretFile: read('LETHE_OIDC_CLIENT_SECRET_FILE', parsePath) || null,
    scopes: read('LETHE_OIDC_SCOPES', parseScopes),
    name: read('LETHE_OIDC_NAME', (text) => (/^[^\p{Cc}]{1,40}$/u.test(text) ? text : null)),
    roleClaim: read('LETHE_OIDC_ROLE_CLAIM', (text) => (/^[!-~]{1,200}$/.test(text) ? text : null)),
    roles: read('LETHE_OIDC_ROLES', (text) => (text === '' ? [] : parseRoleMapping(text))),
  }
  if (issuer === '') return null
  return { issuer, clientId, ...settings, roles: settings.roles.length > 0 ? settings.roles : null }
}

/**
 * Without TLS, anybody on the network could answer in the provider's place. The metadata at the address of
 * the metadata itself would be accepted whatever issuer it names.
 */
function isIssuer(text: string): boolean {
  if (!isServiceUrl(text) || text.includes('/.well-known/')) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
}

function parseScopes(text: string): string | null {
  const scopes = text.split(/ +/)
  const areValid = scopes.every((scope) => /^[!#-[\]-~]{1,100}$/.test(scope))
  return areValid && scopes.includes('openid') ? scopes.join(' ') : null
}

/** OpenTelemetry's own variables may be meant for other programs: they count only if anything is exported. */
function readOtlp(read: Read): OtlpConfig | null {
  const signals = read('LETHE_OTLP', parseSignals)
  const readIfOn: Read = (variable, parse) =>
    read(variable, (text) => parse(signals.length > 0 ? text : variables[variable].fallback))
  const endpoint = readIfOn('OTEL_EXPORTER_OTLP_ENDPOINT', parseEndpoint)
  const ofTraces = readIfOn('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', parseOptionalEndpoint)
  const ofMetrics = readIfOn('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', parseOptionalEndpoint)
  readIfOn('OTEL_EXPORTER_OTLP_PROTOCOL', (text) => (text === 'http/protobuf' ? text : null))
  const otlp: OtlpConfig = {
    tracesUrl: signals.includes('traces') ? ofTraces || signalUrl(endpoint, 'traces') : null,
    metricsUrl: signals.includes('metrics') ? ofMetrics || signalUrl(endpoint, 'metrics') : null,
    timeoutMs: readIfOn('OTEL_EXPORTER_OTLP_TIMEOUT', (text) => parseInteger(text, 100, 60_000)),
    serviceName: readIfOn('OTEL_SERVICE_NAME', (text) => (/^\P{Cc}{1,255}$/u.test(text) ? text : null)),
    sampler: readIfOn('OTEL_TRACES_SAMPLER', (text) => samplers.find((each) => each === text) ?? null),
    ratio: readIfOn('OTEL_TRACES_SAMPLER_ARG', parseShare),
    metricIntervalMs: readIfOn('OTEL_METRIC_EXPORT_INTERVAL', (text) => parseInteger(text, 100, 3_600_000)),
  }
  return signals.length > 0 ? otlp : null
}

function parsePath(text: string): string | null {
  return text.includes('\0') ? null : text
}

function parseHost(text: string): string | null {
  return /^[0-9A-Za-z.:_-]+$/.test(text) ? text : null
}

/** Parses the address of a store in a command's option. */
export function readStoreAddress(option: string, text: string): StoreAddress {
  const address = parseStoreAddress(text)
  if (address) return address
  throw new ConfigError(refusal(option, text, true, variables.LETHE_STORE.accepts))
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

/** Both bounds are inclusive. */
function parseInteger(text: string, min: number, max: number): number | null {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : null
  return number !== null && number >= min && number <= max ? number : null
}

/** Plans that are not named keep their defaults. */
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

/** The origin of a URL without path, query or password; empty if not set. */
function parsePublicUrl(text: string): string | null {
  if (text === '') return text
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url.origin : null
}

/** Strict, because a shorthand such as 10/8 is ambiguous, and /0 would trust everyone. */
function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d*$/.test(bits) && ipaddr.isValidCIDR(text))
}

/** An origin with an optional path: a password or query would not be sent. */
function isServiceUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return [url.username, url.password, url.search, url.hash].every((part) => part === '')
}

/** The part of an invalid value that errors may show: only the scheme if it may contain a password. */
function repeatable(text: string, isConfidential: boolean): string {
  // A value with an at sign may be an address with a password, set on the wrong variable.
  const mayHoldPassword = isConfidential || /^[\w+.-]+:\/\/|@/.test(text)
  return mayHoldPassword ? `${/^[a-z+]+:\/\/?/.exec(text) ?? ''}…` : text
}
