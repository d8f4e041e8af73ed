/// <reference path="./oidc-provider.d.ts" />
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Context, Provider } from 'oidc-provider'
import { listen } from './listen.ts'
import type { Lifetime } from './service.ts'

export interface Account {
  subject: string
  email?: string
  isVerified?: boolean | undefined
  groups?: string[]
}

/** A real identity provider on this machine. It signs in everyone as `visitor`, without showing a page. */
export interface TestProvider {
  issuer: string
  /** `null` refuses every sign-in. */
  visitor: Account | null
  /** How often someone had to authenticate. */
  proofs: number
  /** Registers the service at this address as a client. */
  register(serviceUrl: string): void
  /** Follows the redirects from an address as a browser, to the one that leads back to the service. */
  visit(address: string, browser?: Map<string, string>): Promise<URL>
  /** Stops listening; `start` listens on the same port again. */
  stop(): Promise<void>
  start(): Promise<void>
}

export const clientId = 'lethe-console'
export const clientSecret = 'a client secret that only the two know'

const signingKey = {
  ...generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'jwk' }),
  ...{ kid: 'test', alg: 'RS256', use: 'sig' },
}

/** The client is registered afterwards, because a service needs the issuer to start. */
export async function startIdentityProvider(t: Lifetime): Promise<TestProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    response.destroy()
  let server: Server
  const start = (port = 0) => {
    server = createServer((request, response) => handle(request, response))
    return listen(server, { port })
  }
  const port = await start()
  // For browsers, a different site from the service's `127.0.0.1`.
  const issuer = `http://localhost:${port}`
  const accounts = new Map<string, Account>()

  const make = (serviceUrl: string) => {
    const provider = new Provider(issuer, {
      clients: [
        {
          ...{ client_id: clientId, client_secret: clientSecret },
          redirect_uris: [`${serviceUrl}/console/single-sign-on`],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      cookies: { keys: ['test'] },
      features: { devInteractions: { enabled: false }, claimsParameter: { enabled: true } },
      ttl: Object.fromEntries(
        ['AccessToken', 'AuthorizationCode', 'Grant', 'IdToken', 'Interaction', 'Session'].map((name) => [
          name,
          600,
        ]),
      ),
      jwks: { keys: [signingKey] },
      interactions: { url: () => '/interaction' },
      pkce: { required: () => true },
      async loadExistingGrant({ oidc }: Context) {
        const grant = new provider.Grant({
          clientId: oidc.client?.clientId,
          accountId: oidc.session?.accountId,
        })
        grant.addOIDCScope('openid email groups')
        await grant.save()
        return grant
      },
      findAccount: (_context: Context, accountId: string) => ({
        accountId,
        claims() {
          const { email, isVerified, groups } = accounts.get(accountId) ?? {}
          return { sub: accountId, email, email_verified: isVerified, groups }
        },
      }),
    })
    return provider
  }
  const test: TestProvider = {
    issuer,
    visitor: null,
    proofs: 0,
    register(serviceUrl) {
      const provider = make(serviceUrl)
      const callback = provider.callback()
      handle = (request, response) => {
        if (request.url !== '/interaction') return callback(request, response)
        const { visitor } = test
        test.proofs += 1
        if (visitor) accounts.set(visitor.subject, visitor)
        const result = visitor
          ? { login: { accountId: visitor.subject } }
          : { error: 'access_denied', error_description: 'nobody is there' }
        provider
          .interactionFinished(request, response, result, { mergeWithLastSubmission: false })
          .catch((error: Error) => response.destroy(error))
      }
    },
    async visit(address, browser = new Map()) {
      let next = new URL(address)
      while (next.origin === issuer) {
        const cookie = [...browser].map((pair) => pair.join('=')).join('; ')
        const response = await fetch(next, { redirect: 'manual', headers: { cookie } })
        await response.body?.cancel()
        for (const header of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
          if (value === '') browser.delete(name)
          else browser.set(name, value)
        }
        const location = response.headers.get('location')
        if (location === null)
          throw new Error(`The provider answered ${response.status} for ${next.pathname}.`)
        next = new URL(location, next)
      }
      return next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    async start() {
      await start(port)
    },
  }
  t.after(() => test.stop())
  return test
}
