import { readFile } from 'node:fs/promises'
import { ConfigError } from '../config.ts'

/** The client's secret at the identity provider. Messages omit the path, which may be the secret. */
export async function readClientSecret(path: string): Promise<string> {
  const secret = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`LETHE_OIDC_CLIENT_SECRET_FILE names a file that cannot be read (${error.code}).`)
  })
  const trimmed = secret.trim()
  if (/^[ -~]{1,1000}$/.test(trimmed)) return trimmed
  throw new ConfigError('LETHE_OIDC_CLIENT_SECRET_FILE must name a file with the client secret in one line.')
}
