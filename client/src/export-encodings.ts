import { isObject } from './api.ts'

/** `Accept-Encoding` for exports. Node's fetch decodes zstd since undici 8, but does not request it. */
export function exportEncodings(versions = runtimeVersions()): Record<string, string> {
  const { undici, zstd } = versions
  const unpacksZstd = zstd !== undefined && Number.parseInt(String(undici), 10) >= 8
  return unpacksZstd ? { 'accept-encoding': 'zstd, gzip' } : {}
}

/** The versions of Node and its parts; empty in other runtimes. */
function runtimeVersions(): Record<string, unknown> {
  const process: unknown = Reflect.get(globalThis, 'process')
  const versions = isObject(process) ? process.versions : null
  return isObject(versions) ? versions : {}
}
