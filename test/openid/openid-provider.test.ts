import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { ProviderIdentity } from '../../src/domain/single-sign-on.ts'
import { type OpenIdSettings, openIdProvider } from '../../src/openid/openid-provider.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'
import { type Forgery, otherKey, startForgingProvider } from '../support/forging-provider.ts'

const clientId = 'lethe'
const clientSecret = 'a client secret that only the two know'
const redirectUri = 'https://lethe.example/console/single-sign-on'
const provider = await startForgingProvider({ after }, clientId)
let failures: string[] = []

beforeEach(() => {
  provider.forgery = {}
  provider.asked = []
  failures = []
})

function client(settings: Partial<OpenIdSettings> = {}, timeoutMs = 60_000) {
  const onFailed = (step: string, reason: string) => failures.push(`${step}: ${reason}`)
  return openIdProvider(
    {
      ...{ issuer: provider.issuer, clientId, clientSecret, scopes: 'openid email', name: 'Acme' },
      ...{ roleClaim: null, ...settings },
    },
    { clock: Date.now, randomness: systemRandomness, onFailed, timeoutMs },
  )
}

interface Attempt {
  settings?: Partial<OpenIdSettings>
  maxAgeSeconds?: number | null
  timeoutMs?: number
  /** Changes the query with which the browser returns. */
  back?(query: URLSearchParams): void
}

/** Signs in at the provider, which responds with the forgery. */
async function attempt(
  forgery: Forgery,
  { settings = {}, maxAgeSeconds = null, timeoutMs, back }: Attempt = {},
): Promise<ProviderIdentity> {
  provider.forgery = forgery
  const sso = client(settings, timeoutMs)
  const { address, trip } = await sso.begin(redirectUri, maxAgeSeconds)
  provider.nonce = new URL(address).searchParams.get('nonce') ?? ''
  const query = new URLSearchParams({ code: 'the-code', state: trip.state, iss: provider.issuer })
  back?.(query)
  return sso.finish(trip, query.toString())
}

const now = () => Math.floor(Date.now() / 1_000)

describe('a round trip to the identity provider', () => {
  test('requests a code with PKCE, a state and a nonce, for its own address', async () => {
    const { address, trip } = await client().begin(redirectUri, null)
    const { searchParams: asked } = new URL(address)
    assert.equal(asked.get('response_type'), 'code')
    assert.equal(asked.get('redirect_uri'), redirectUri)
    assert.equal(asked.get('scope'), 'openid email')
    assert.equal(asked.get('code_challenge_method'), 'S256')
    assert.equal(asked.get('state'), trip.state)
    assert.equal(asked.get('nonce'), trip.nonce)
    assert.equal(asked.get('prompt'), null)
    assert.ok(!address.includes(trip.codeVerifier))
    assert.equal(new Set([trip.state, trip.nonce, trip.codeVerifier]).size, 3)
  })

  test('returns the account, the verified address and the time of authentication', async () => {
    const time = now() - 5
    assert.deepEqual(await attempt({ claims: { email: 'Ada@Acme.Example', auth_time: time } }), {
      issuer: provider.issuer,
      subject: 'ada',
      email: 'ada@acme.example',
      isVerified: true,
      roleValues: [],
      authenticatedAt: time * 1_000,
    })
    assert.ok(!provider.asked.includes('/userinfo'))
    assert.deepEqual(failures, [])
  })

  test('uses the issuer of the provider, with or without a trailing slash in the settings', async () => {
    const settings = { issuer: `${provider.issuer}/` }
    const { issuer } = await attempt({ claims: { email: 'ada@acme.example' } }, { settings })
    assert.equal(issuer, provider.issuer)
  })

  test('reads the metadata once, and again after a failure', async () => {
    const sso = client()
    const answers = {
      '/.well-known/openid-configuration': (response: { destroy(): void }) => response.destroy(),
    }
    provider.forgery = { answers }
    await assert.rejects(sso.begin(redirectUri, null), /cannot be reached/)
    provider.forgery = {}
    provider.asked = []
    await Promise.all([sso.begin(redirectUri, null), sso.begin(redirectUri, null)])
    await sso.begin(redirectUri, null)
    assert.deepEqual(provider.asked, ['/.well-known/openid-configuration'])
  })

  const addresses: Record<string, [Forgery, { email: string | null; isVerified: boolean }]> = {
    'is not verified without a word about it': [
      { claims: { email_verified: undefined } },
      { email: 'ada@acme.example', isVerified: false },
    ],
    'is not verified by the text "true"': [
      { claims: { email_verified: 'true' } },
      { email: 'ada@acme.example', isVerified: false },
    ],
    'is verified by the claim of Microsoft Entra ID': [
      { claims: { email_verified: undefined, xms_edov: 1 } },
      { email: 'ada@acme.example', isVerified: true },
    ],
    'comes from the user info if the ID token has none': [
      {
        claims: { email: undefined, email_verified: undefined },
        userInfo: { sub: 'ada', email: 'ada@b.example', email_verified: true },
      },
      { email: 'ada@b.example', isVerified: true },
    ],
    'is never mixed with the verification of another': [
      {
        claims: { email_verified: undefined },
        userInfo: { sub: 'ada', email_verified: true },
      },
      { email: 'ada@acme.example', isVerified: false },
    ],
    'may be missing': [{ claims: { email: undefined } }, { email: null, isVerified: true }],
  }
  for (const [what, [forgery, wanted]] of Object.entries(addresses)) {
    test(`has an address that ${what}`, async () => {
      const { email, isVerified } = await attempt(forgery)
      assert.deepEqual({ email, isVerified }, wanted)
    })
  }

  const claims: Record<string, [string, Forgery, string[]]> = {
    'a list': ['groups', { claims: { groups: ['a', 7, 'b'] } }, ['a', 'b']],
    'one text': ['role', { claims: { role: 'a' } }, ['a']],
    'a path': ['realm_access.roles', { claims: { realm_access: { roles: ['a'] } } }, ['a']],
    'a name with dots': [
      'https://acme.example/roles',
      { claims: { 'https://acme.example/roles': ['a'] } },
      ['a'],
    ],
    'the user info': ['groups', { userInfo: { sub: 'ada', groups: ['a'] } }, ['a']],
    nothing: ['groups', {}, []],
    'nothing by the name of a method': ['constructor', {}, []],
  }
  for (const [what, [roleClaim, forgery, wanted]] of Object.entries(claims)) {
    test(`reads the values for roles from ${what}`, async () => {
      const { roleValues } = await attempt(forgery, { settings: { roleClaim } })
      assert.deepEqual(roleValues, wanted)
    })
  }

  test('accepts a clock that is half a minute off', async () => {
    await attempt({ claims: { exp: now() - 20, iat: now() + 20 } })
  })

  test('sends the secret with a method that the provider supports, or none for a public client', async () => {
    const seen: string[] = []
    for (const [methods, secret] of [
      [undefined, clientSecret],
      [['client_secret_post'], clientSecret],
      [['none'], null],
    ] as const) {
      const metadata = { token_endpoint_auth_methods_supported: methods }
      await attempt({ metadata }, { settings: { clientSecret: secret } })
      seen.push(provider.credentials)
    }
    assert.deepEqual(seen, ['header', 'body', 'none'])
  })
})

const refusals: Record<string, [Forgery, Attempt, RegExp]> = {
  'another nonce': [{ claims: { nonce: 'another' } }, {}, /JWT_CLAIM_COMPARISON.* nonce/],
  'no nonce': [{ claims: { nonce: undefined } }, {}, /INVALID_RESPONSE|nonce/],
  'another state': [{}, { back: (query) => query.set('state', 'another') }, /INVALID_RESPONSE/],
  'the issuer of another provider in the address': [
    {},
    { back: (query) => query.set('iss', 'https://evil.example') },
    /INVALID_RESPONSE/,
  ],
  'no issuer in the address although the provider states it': [
    {},
    { back: (query) => query.delete('iss') },
    /INVALID_RESPONSE/,
  ],
  'a code given twice': [{}, { back: (query) => query.append('code', 'another') }, /INVALID_RESPONSE/],
  'no code': [{}, { back: (query) => query.delete('code') }, /.+/],
  'an error of the provider': [
    {},
    { back: (query) => query.set('error', 'access_denied') },
    /AUTHORIZATION_RESPONSE_ERROR access_denied/,
  ],
  'a token of another issuer': [{ claims: { iss: 'https://evil.example' } }, {}, /iss/],
  'a token for another audience': [{ claims: { aud: 'another' } }, {}, /aud/],
  'a token for several audiences, authorised for another': [
    { claims: { aud: [clientId, 'another'], azp: 'another' } },
    {},
    /azp/,
  ],
  'a token that has expired': [{ claims: { exp: now() - 120 } }, {}, /TIMESTAMP.* exp/],
  'a token that is not valid yet': [{ claims: { nbf: now() + 120 } }, {}, /TIMESTAMP.* nbf/],
  'a token without a subject': [{ claims: { sub: undefined } }, {}, /.+/],
  'a token by an unknown key': [{ key: otherKey, header: { kid: 'unknown' } }, {}, /KEY_SELECTION/],
  'a token by another key under the published name': [{ key: otherKey }, {}, /INVALID_RESPONSE|OAUTH/],
  'a token without a signature': [
    {
      ...{ key: null, header: { alg: 'none', kid: undefined } },
      metadata: { id_token_signing_alg_values_supported: ['RS256', 'none'] },
    },
    {},
    /.+/,
  ],
  'a token signed with the client secret': [
    {
      ...{ key: clientSecret, header: { alg: 'HS256', kid: undefined } },
      metadata: { id_token_signing_alg_values_supported: ['RS256', 'HS256'] },
    },
    {},
    /.+/,
  ],
  'no token': [
    {
      answers: {
        '/token': (response) => {
          response.setHeader('content-type', 'application/json')
          response.end('{"access_token":"access","token_type":"Bearer"}')
        },
      },
    },
    {},
    /INVALID_RESPONSE/,
  ],
  'user info about another person': [
    {
      claims: { email: undefined, email_verified: undefined },
      userInfo: { sub: 'eve', email: 'ada@acme.example' },
    },
    {},
    /sub/,
  ],
  'a proof that is too old': [
    { claims: { auth_time: now() - 3_600 } },
    { maxAgeSeconds: 600 },
    /TIMESTAMP.* auth_time/,
  ],
  'no time of the proof, although it was asked for': [
    { claims: { auth_time: undefined } },
    { maxAgeSeconds: 600 },
    /.+/,
  ],
  'a redirect in place of a token': [
    {
      answers: {
        '/token': (response) => {
          response.writeHead(302, { location: `${provider.issuer}/keys` }).end()
        },
      },
    },
    {},
    /RESPONSE_IS_NOT_CONFORM/,
  ],
}

describe('single sign-on refuses', () => {
  for (const [what, [forgery, how, reason]] of Object.entries(refusals)) {
    test(what, async () => {
      await assert.rejects(attempt(forgery, how), { code: 'unauthorized', message: /did not succeed/ })
      assert.equal(failures.length, 1)
      assert.match(failures[0] ?? '', new RegExp(`^sign-in: .*(${reason.source})`))
      assert.doesNotMatch(failures[0] ?? '', /ada|the-code|http/)
    })
  }
})

const outages: Record<string, [Forgery, Attempt]> = {
  'hangs when it is asked for its metadata': [
    { answers: { '/.well-known/openid-configuration': () => {} } },
    { timeoutMs: 50 },
  ],
  'is of another issuer': [{ metadata: { issuer: 'https://evil.example' } }, {}],
  'serves every tenant of a vendor': [{ metadata: { issuer: 'https://login.example/{tenantid}' } }, {}],
  'hangs when it is asked for a token': [{ answers: { '/token': () => {} } }, { timeoutMs: 300 }],
  'fails while it makes a token': [
    {
      answers: {
        '/token': (response) => {
          response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"server_error"}')
        },
      },
    },
    {},
  ],
  'breaks off': [{ answers: { '/token': (response) => response.destroy() } }, {}],
  'never stops answering': [
    {
      answers: {
        '/token': (response) => {
          const more = (error?: Error | null) => {
            if (!error) response.write('x'.repeat(100_000), more)
          }
          more()
        },
      },
    },
    {},
  ],
}

describe('single sign-on reports that the provider cannot be reached if it', () => {
  for (const [what, [forgery, how]] of Object.entries(outages)) {
    test(what, async () => {
      await assert.rejects(attempt(forgery, how), { code: 'internal_error', message: /cannot be reached/ })
      assert.equal(failures.length, 1)
    })
  }
})
