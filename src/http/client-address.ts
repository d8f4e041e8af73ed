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
