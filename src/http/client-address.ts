import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

/**
 * Tells whose per-address budget a request counts against. The address is the peer's; `X-Forwarded-For` is believed only as far as
 * it was written by the proxies named here (addresses or CIDR ranges).
 */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  const known = new Map<string, string>()
  return (request) => {
    const peer = request.socket.remoteAddress ?? ''
    const forwarded = trustedProxies.length > 0 ? (request.headers['x-forwarded-for'] ?? '') : ''
    const told = `${peer} ${forwarded}`
    return known.get(told) ?? remember(told, holderOf(request, peer))
  }

  function holderOf(request: IncomingMessage, peer: string): string {
    const address = trustedProxies.length > 0 ? proxyAddress(request, isTrusted) : peer
    return addressBucketKey(address) ?? addressBucketKey(peer) ?? 'unknown'
  }

  /** Clients come again, and to take addresses apart costs as much as the rest of counting them. A long list is nobody's habit. */
  function remember(told: string, bucketKey: string): string {
    if (told.length > longestRemembered) return bucketKey
    if (known.size >= mostRemembered) known.clear()
    known.set(told, bucketKey)
    return bucketKey
  }
}

const mostRemembered = 10_000
const longestRemembered = 128

/**
 * The bucket key of an address: an IPv4 address itself, written as IPv6 or not; an IPv6 address's /64, which one customer
 * commonly holds whole. `null` for what is no address: a proxy may pass on anything.
 */
export function addressBucketKey(address: string): string | null {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return null
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

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
