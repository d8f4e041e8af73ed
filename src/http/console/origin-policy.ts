import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'

/** How a browser reached us, as far as it can be known. */
export interface OriginPolicy {
  /** Whether the browser speaks TLS, with us or with a proxy in front. */
  isSecure(request: IncomingMessage): boolean
  /** Whether this is where the browser has the console from. */
  isOurs(origin: string, request: IncomingMessage): boolean
}

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
  return {
    isSecure: (request) =>
      publicUrl?.startsWith('https:') === true || forwarded(request, 'x-forwarded-proto') === 'https',
    isOurs(origin, request) {
      if (origin === publicUrl) return true
      const host = forwarded(request, 'x-forwarded-host') ?? request.headers.host
      return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
    },
  }
}
