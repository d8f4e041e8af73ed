import { hideSecrets } from '../domain/secret.ts'

/** The address of a store. */
export type StoreAddress = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

/**
 * Parses `sqlite:PATH` or `postgres://…`; `null` for anything else. Only on Windows may a path contain a
 * drive letter and a colon.
 */
export function parseStoreAddress(
  text: string,
  platform: NodeJS.Platform = process.platform,
): StoreAddress | null {
  if (parsePostgresUrl(text)) return { engine: 'postgres', url: text }
  const pattern =
    platform === 'win32' ? /^sqlite:(?<path>(?:[A-Za-z]:[\\/])?[^:?\0]+)$/ : /^sqlite:(?<path>[^:?\0]+)$/
  const path = pattern.exec(text)?.groups?.path
  return path === undefined ? null : { engine: 'sqlite', path }
}

/** The location of a store, without secrets. */
export function placeOf(address: StoreAddress): string {
  return address.engine === 'sqlite' ? address.path : hideSecrets(address.url)
}

export interface PostgresHost {
  host: string
  port: number
}

/** The address of a PostgreSQL server, or of several that replicate each other. */
interface PostgresAddress {
  /** As the driver expects it, with the first host. */
  url: string
  /**
   * In the order in which they are tried. A single one may be empty: then PostgreSQL's environment variables
   * name it.
   */
  hosts: readonly PostgresHost[]
  /** `target_session_attrs`: what a host must accept. With several hosts the default is `read-write`. */
  sessions: string
}

const defaultPort = 5_432

/**
 * Parses `postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]…][/DATABASE][?…]`, with the hosts there or in
 * the parameter `host`, as psql does. `null` for anything else.
 */
export function parsePostgresUrl(text: string): PostgresAddress | null {
  const [, scheme = '', authority = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^\s/?#]*)([^\s]*)$/.exec(text) ?? []
  if (scheme === '' || text === scheme) return null
  const signIn = authority.slice(0, authority.lastIndexOf('@') + 1)
  const names = authority.slice(signIn.length).split(',')
  const url = URL.parse(`${scheme}${signIn}${names[0] || 'localhost'}${rest}`)
  if (!url || !isDecodable(url.username + url.password + url.pathname)) return null
  const hosts = hostsIn(url.searchParams) ?? names.map(parseHost)
  if (!hosts.every((host) => host !== null)) return null
  const mode = url.searchParams.get('target_session_attrs')
  // The driver treats the others as verify-full too, and warns that a later version will not.
  const isLoose = url.searchParams.get('uselibpqcompat') === 'true'
  const strict = rest.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/, '$1verify-full')
  return {
    url: `${scheme}${signIn}${names[0]}${isLoose ? rest : strict}`,
    hosts,
    sessions: mode ?? (hosts.length > 1 ? 'read-write' : 'any'),
  }
}

function hostsIn(parameters: URLSearchParams): (PostgresHost | null)[] | null {
  const names = parameters.get('host')?.split(',')
  if (!names) return null
  const ports = parameters.get('port')?.split(',') ?? ['']
  if (ports.length > 1 && ports.length !== names.length) return [null]
  return names.map((host, place) => withPort(host, ports[place] ?? ports[0] ?? ''))
}

function parseHost(text: string): PostgresHost | null {
  const [, host = null, port = ''] = /^(\[[\da-fA-F:.]+\]|[^:[\]]*)(?::(\d*))?$/.exec(text) ?? []
  if (host === null || !isDecodable(host)) return null
  return withPort(decodeURIComponent(host.replace(/^\[(.+)\]$/, '$1')), port)
}

function withPort(host: string, port: string): PostgresHost | null {
  const number = port === '' ? defaultPort : Number(port)
  return Number.isInteger(number) && number > 0 && number < 65_536 ? { host, port: number } : null
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
