import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'

/** How a browser reached us, as far as it can be known. */
export interface OriginPolicy {
  /** Whether the browser speaks TLS, with us or with a proxy in front. */
  isSecure(request: IncomingMessage): boolean
  /** Whether this is where the browser has the console from. */
  isOurs(origin: string, request: IncomingMessage): boolean
  /** The address that a request came in on, such as `https://lethe.example`; `null` where none can be told. */
  serviceUrl(request: IncomingMessage): string | null
}

/** Stricter than what HTTP allows: a name that no client sends must not get into a document. */
const plainHost = /^([a-z0-9_][a-z0-9._-]{0,252}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/

/** `publicUrl` is what the operator says; of the rest, forwarded headers count only from the proxies named here. */
export function originPolicy(publicUrl: string | null, trustedProxies: readonly string[]): OriginPolicy {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  function forwarded(
    request: IncomingMessage,
    name: 'x-forwarded-proto' | 'x-forwarded-host',
  ): string | null {
    const value = request.headers[name]
    if (typeof value !== 'string' || !isTrusted(request.socket.remoteAddress ?? '', 0)) return null
    return value.split(',')[0]?.trim() ?? null
  }
  const hostOf = (request: IncomingMessage) => forwarded(request, 'x-forwarded-host') ?? request.headers.host
  const isSecure = (request: IncomingMessage) =>
    publicUrl?.startsWith('https:') === true || forwarded(request, 'x-forwarded-proto') === 'https'
  return {
    isSecure,
    isOurs(origin, request) {
      if (origin === publicUrl) return true
      const host = hostOf(request)
      return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
    },
    serviceUrl(request) {
      if (publicUrl !== null) return publicUrl
      const [host, name] = plainHost.exec(hostOf(request)?.toLowerCase() ?? '') ?? []
      const address = `${isSecure(request) ? 'https' : 'http'}://${host}`
      if (host === undefined || !URL.canParse(address)) return null
      const { hostname, origin } = new URL(address)
      // A URL parser reads 1.2 as 1.0.0.2, which nobody asked for.
      return hostname === name ? origin : null
    },
  }
}
