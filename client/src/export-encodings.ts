/**
 * What an export is asked to be packed with, where that is more than fetch asks for by itself: Node's unpacks zstd from undici 8 on, and
 * does not say so.
 */
export function exportEncodings(versions = runtimeVersions()): Record<string, string> {
  const { undici, zstd } = versions
  const unpacksZstd = zstd !== undefined && Number.parseInt(String(undici), 10) >= 8
  return unpacksZstd ? { 'accept-encoding': 'zstd, gzip' } : {}
}

/** What Node says it is made of; nothing elsewhere. */
function runtimeVersions(): Record<string, unknown> {
  const process: unknown = Reflect.get(globalThis, 'process')
  const versions = isObject(process) ? process.versions : null
  return isObject(versions) ? versions : {}
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
