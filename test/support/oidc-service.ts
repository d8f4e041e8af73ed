import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientId, clientSecret, startIdentityProvider, type TestProvider } from './identity-provider.ts'
import { inReverse } from './in-reverse.ts'
import { type Lifetime, startTestService, type TestService } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Starts a real identity provider and a service that uses it. */
export async function startOidcService(
  t: Lifetime,
): Promise<{ service: TestService; provider: TestProvider; env: Record<string, string> }> {
  const lifetime = inReverse(t)
  const provider = await startIdentityProvider(lifetime)
  const secretFile = join(temporaryFolder(lifetime), 'client-secret')
  writeFileSync(secretFile, `${clientSecret}\n`)
  const env = {
    LETHE_OIDC_ISSUER: provider.issuer,
    LETHE_OIDC_CLIENT_ID: clientId,
    LETHE_OIDC_CLIENT_SECRET_FILE: secretFile,
    LETHE_OIDC_NAME: 'Acme ID',
  }
  const service = await startTestService(lifetime, env)
  provider.register(service.url)
  return { service, provider, env }
}
