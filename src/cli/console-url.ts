import type { Config } from '../config.ts'

/** Where a browser finds the console: where the operator says, else where the service listens. */
export function consoleUrl({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

/** An address that a browser can open, where a service listens on all of them. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
