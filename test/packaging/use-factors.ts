import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { totpCode, totpStep } from '../../src/factors/totp-codes.ts'
import { dataOf, listIn, textIn } from '../support/answers.ts'
import { softwarePasskey } from '../support/authenticator.ts'
import { password, visitor } from '../support/console.ts'
import { startForgingProvider } from '../support/forging-provider.ts'
import { startCollector } from '../support/otlp-collector.ts'
import type { Lifetime } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type InstalledProgram, lethe, serve } from './installed-program.ts'

const clientId = 'lethe-console'
const email = 'ada@acme.example'

/** Signs in with every factor whose library is loaded on first use, with tracing on. */
export async function useFactors(t: Lifetime, program: InstalledProgram, org: string): Promise<void> {
  const provider = await startForgingProvider(t, clientId)
  const collector = await startCollector(t)
  writeFileSync(join(program.folder, 'client-secret'), 'a client secret')
  const invited = await lethe(program, ['members', 'create', '--org', org, '--email', email, '--json'])
  const service = await serve(t, program, {
    LETHE_OIDC_ISSUER: provider.issuer,
    LETHE_OIDC_CLIENT_ID: clientId,
    LETHE_OIDC_CLIENT_SECRET_FILE: 'client-secret',
    ...collector.env,
  })
  // Passkeys require a host name.
  const at = { url: service.url.replace('127.0.0.1', 'localhost') }
  const browser = visitor(at)
  const post = async (path: string, body: object = {}) =>
    dataOf(await browser.ask(path, { method: 'POST', body }))

  await post('/invitation/accept', { token: textIn(JSON.parse(invited), 'link').split('#')[1], password })
  await post('/sign-in', { email, password })
  const { token, secret } = await post('/account/totp/offer')
  const code = totpCode(String(secret), totpStep(Date.now()))
  const { recoveryCodes } = await post('/account/totp', { token, code })
  assert.ok(Array.isArray(recoveryCodes))
  const passkey = softwarePasskey(at.url)
  const made = await post('/account/passkeys/options')
  const user = { id: textIn(made.user, 'id') }
  const response = passkey.register({ challenge: textIn(made, 'challenge'), user })
  await post('/account/passkeys', { name: 'Laptop', response })

  const { prompt } = await post('/sign-in', { email, password })
  assert.deepEqual(listIn(prompt, 'proofs'), ['passkey', 'totp', 'recovery-code'])
  await post('/sign-in/second-factor', { token: textIn(prompt, 'token'), code: recoveryCodes[0] })
  const asked = await post('/sign-in/passkey/options')
  const answer = passkey.answer({ challenge: textIn(asked, 'challenge') })
  await post('/sign-in/passkey', { passkey: answer })

  const { searchParams: sent } = new URL(textIn(await post('/single-sign-on'), 'address'))
  provider.nonce = sent.get('nonce') ?? ''
  const back = new URLSearchParams({ code: 'the-code', state: sent.get('state') ?? '', iss: provider.issuer })
  await post('/single-sign-on/finish', { query: `?${back}` })
  assert.equal(textIn(dataOf(await browser.ask('/session')).member, 'email'), email)
  assert.equal(await service.stop(), 0)
  await until(() => collector.spans.some(({ name }) => name.includes('/console/api/single-sign-on/finish')))
}
