import { isIPv6 } from 'node:net'

/** Budgets are counted in each process, or in a Redis that processes share. */
export type LimiterAddress = { engine: 'memory' } | RedisAddress

export interface RedisAddress {
  engine: 'redis'
  host: string
  port: number
  isEncrypted: boolean
  username?: string
  password?: string
  database: number
}

/** `memory`, `redis://[[USER][:PASSWORD]@]HOST[:PORT][/DATABASE]` or `rediss://` (TLS), otherwise `null`. */
export function parseLimiterAddress(text: string): LimiterAddress | null {
  if (text === 'memory') return { engine: 'memory' }
  const url = /^rediss?:\/\/[^\s\p{Cc}?#]+$/u.test(text) ? URL.parse(text) : null
  if (!url) return null
  const host = url.hostname.replace(/^\[(.+)\]$/, '$1')
  const [, database = '0'] = /^\/?(\d{1,5})?$/.exec(url.pathname) ?? [null, null]
  const [username, password] = [decoded(url.username), decoded(url.password)]
  if (database === null || username === null || password === null || url.port === '0') return null
  if (!isIPv6(host) && !/^[0-9A-Za-z._-]+$/.test(host)) return null
  return {
    engine: 'redis',
    host,
    port: Number(url.port || 6_379),
    isEncrypted: url.protocol === 'rediss:',
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    database: Number(database),
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The part of an address that is not secret. */
export function hostAndPort({ host, port }: RedisAddress): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}
