import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'
import type { RelyingParty } from '../domain/passkey.ts'

/**
 * The bucket key of a request's address: that of the peer, or the one in `X-Forwarded-For` as far as it was
 * written by `trustedProxies` (addresses or CIDR ranges).
 */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  const known = new Map<string, string>()
  return (request) => {
    const peer = request.socket.remoteAddress ?? ''
    const forwarded = trustedProxies.length > 0 ? (request.headers['x-forwarded-for'] ?? '') : ''
    const source = `${peer} ${forwarded}`
    return known.get(source) ?? remember(source, bucketKeyOf(request, peer))
  }

  function bucketKeyOf(request: IncomingMessage, peer: string): string {
    const address = trustedProxies.length > 0 ? proxyAddress(request, isTrusted) : peer
    return addressBucketKey(address) ?? addressBucketKey(peer) ?? 'unknown'
  }

  /** Caches keys, because parsing an address costs as much as counting the request. */
  function remember(source: string, bucketKey: string): string {
    if (source.length > maxCachedLength) return bucketKey
    if (known.size >= maxCached) known.clear()
    known.set(source, bucketKey)
    return bucketKey
  }
}

const maxCached = 10_000
const maxCachedLength = 128

/**
 * The bucket key of an address: an IPv4 address itself, even if it is written as IPv6, or the /64 of an IPv6
 * address, which usually belongs to one customer. `null` for text that is not an address.
 */
export function addressBucketKey(address: string): string | null {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return null
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

/** How a browser reached the service. */
export interface OriginPolicy {
  /** Whether the browser uses TLS, with the service or with a proxy in front of it. */
  isSecure(request: IncomingMessage): boolean
  /** Whether this is the origin of the console. */
  isOurs(origin: string, request: IncomingMessage): boolean
  /** The address that the request was sent to, such as `https://lethe.example`; `null` if it is unknown. */
  serviceUrl(request: IncomingMessage): string | null
  /**
   * What passkeys belong to, for a request with an `Origin`: the console's host name, and its origin. `null`
   * without a host name, because passkeys cannot belong to an IP address.
   */
  relyingParty(request: IncomingMessage): RelyingParty | null
}

/** Stricter than HTTP, because the name is copied into a document. */
const plainHost = /^([a-z0-9_][a-z0-9._-]{0,252}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/

/** `publicUrl` takes precedence. Forwarded headers count only from trusted proxies. */
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
  const isOurs = (origin: string, request: IncomingMessage) => {
    if (origin === publicUrl) return true
    const host = hostOf(request)
    return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
  }
  return {
    isSecure,
    isOurs,
    relyingParty(request) {
      const sent = request.headers.origin ?? ''
      const address = publicUrl ?? (isOurs(sent, request) ? sent : null)
      if (address === null) return null
      const { hostname, origin } = new URL(address)
      return isIPv4(hostname) || hostname.startsWith('[') ? null : { id: hostname, origin }
    },
    serviceUrl(request) {
      if (publicUrl !== null) return publicUrl
      const [host, name] = plainHost.exec(hostOf(request)?.toLowerCase() ?? '') ?? []
      const address = `${isSecure(request) ? 'https' : 'http'}://${host}`
      if (host === undefined || !URL.canParse(address)) return null
      const { hostname, origin } = new URL(address)
      // A URL parser reads 1.2 as 1.0.0.2.
      return hostname === name ? origin : null
    },
  }
}
