import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from './listen.ts'
import type { Lifetime } from './service.ts'

/** The answers of an untrustworthy provider. Everything else is correct. */
export interface Forgery {
  metadata?: Record<string, unknown>
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  /** Signs instead of the published key: a string is the secret of an HMAC, `null` omits the signature. */
  key?: KeyObject | string | null
  userInfo?: Record<string, unknown>
  /** Answers for paths, instead of the provider's own. */
  answers?: Record<string, (response: ServerResponse) => void>
}

interface ForgingProvider {
  issuer: string
  forgery: Forgery
  /** The nonce of the next ID token. */
  nonce: string
  /** The requested paths. */
  asked: string[]
  /** How the client authenticated in its last token request. */
  credentials: 'header' | 'body' | 'none'
}

const published = generateKeyPairSync('rsa', { modulusLength: 2_048 })
export const otherKey = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey

const inBase64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function sign(header: object, claims: object, key: KeyObject | string | null): string {
  const text = `${inBase64(header)}.${inBase64(claims)}`
  if (key === null) return `${text}.`
  const signature =
    typeof key === 'string'
      ? createHmac('sha256', key).update(text).digest('base64url')
      : createSign('sha256').update(text).sign(key, 'base64url')
  return `${text}.${signature}`
}

/** A local provider that answers with what the test forges. */
export async function startForgingProvider(t: Lifetime, clientId: string): Promise<ForgingProvider> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    provider.asked.push(path)
    const body = await text(request)
    if (path === '/token') {
      const inBody = body.includes('client_secret=') ? 'body' : 'none'
      provider.credentials = request.headers.authorization === undefined ? inBody : 'header'
    }
    const { forgery } = provider
    const answer = forgery.answers?.[path]
    if (answer) return answer(response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers()[path] ?? {}))
  })
  const issuer = `http://127.0.0.1:${await listen(server)}`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const provider: ForgingProvider = { issuer, forgery: {}, nonce: '', asked: [], credentials: 'none' }

  function answers(): Record<string, object> {
    const { metadata, claims, header, key = published.privateKey, userInfo } = provider.forgery
    const now = Math.floor(Date.now() / 1_000)
    const token = sign(
      { alg: 'RS256', kid: 'published', ...header },
      {
        ...{ iss: issuer, sub: 'ada', aud: clientId, nonce: provider.nonce, iat: now, exp: now + 60 },
        ...{ email: 'ada@acme.example', email_verified: true, auth_time: now, ...claims },
      },
      key,
    )
    return {
      '/.well-known/openid-configuration': {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...metadata,
      },
      '/token': { access_token: 'access', token_type: 'Bearer', id_token: token },
      '/keys': {
        keys: [
          { ...published.publicKey.export({ format: 'jwk' }), kid: 'published', use: 'sig', alg: 'RS256' },
        ],
      },
      '/userinfo': userInfo ?? { sub: 'ada' },
    }
  }
  return provider
}
