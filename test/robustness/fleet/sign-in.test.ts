import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { totpCode, totpStep } from '../../../src/factors/totp-codes.ts'
import { assertAbsent } from '../../secrets/markers.ts'
import { dataOf, errorOf, textIn } from '../../support/answers.ts'
import { softwarePasskey } from '../../support/authenticator.ts'
import { type CommandLine, commandLine, onlyJson, startServe, textOf } from '../../support/command-line.ts'
import { type ConsoleAsk, password, visitor } from '../../support/console.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { clientId, clientSecret, startIdentityProvider } from '../../support/identity-provider.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { cheapHashing } from '../../support/scrypt-once.ts'
import { ampleBudgets } from '../kill/server.ts'
import { clientAddress } from './fleet.ts'

/** The address of the proxy in front of both processes. */
const publicUrl = 'https://lethe.example'
const rounds = 3

type Browser = ReturnType<typeof visitor>

describe('two processes on one PostgreSQL', () => {
  const lifetime = inReverse({ after })
  let cli: CommandLine
  let urls: [string, string]
  let provider: Awaited<ReturnType<typeof startIdentityProvider>>
  let count = 0
  let store: string
  let logged: () => string
  /** What must not be written anywhere, by description. */
  const secrets: Record<string, string> = { password, 'client secret': clientSecret }
  const refusals: unknown[] = []

  before(async () => {
    provider = await startIdentityProvider(lifetime)
    provider.register(publicUrl)
    store = await freshStore(lifetime)
    cli = commandLine(lifetime, store)
    onlyJson(await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme', '--json']))
    const secretFile = join(cli.folder, 'client-secret')
    writeFileSync(secretFile, clientSecret)
    const env = {
      ...ampleBudgets,
      LETHE_PUBLIC_URL: publicUrl,
      LETHE_TRUSTED_PROXIES: '127.0.0.1',
      LETHE_OIDC_ISSUER: provider.issuer,
      LETHE_OIDC_CLIENT_ID: clientId,
      LETHE_OIDC_CLIENT_SECRET_FILE: secretFile,
      LETHE_LOG_LEVEL: 'trace',
      NODE_OPTIONS: cheapHashing,
    }
    const [one, other] = await Promise.all([startServe(cli, env), startServe(cli, env)])
    urls = [one.url, other.url]
    logged = () => [one, other].map((server) => server.stdout() + server.stderr()).join('')
  })

  /** A browser with its own address, whose requests the proxy sends to one of the processes. */
  function browserAt(url: string, copied: Partial<Browser> = {}): Browser {
    const browser = visitor({ url })
    const headers = { origin: publicUrl, 'x-forwarded-for': clientAddress(++count) }
    const { ask } = browser
    const through = async (path: string, sent: ConsoleAsk = {}) => {
      const answer = await ask(path, { ...sent, headers })
      if (answer.status !== 200) refusals.push(answer.body)
      for (const pair of answer.headers.getSetCookie()) keepSecret('cookie', pair.split(/[=;]/)[1])
      return answer
    }
    return Object.assign(browser, copied, { ask: through })
  }

  const keepSecret = (what: string, secret = '') => {
    if (secret !== '') secrets[`${what} ${Object.keys(secrets).length}`] = secret
  }

  const post = async (browser: Browser, path: string, body: object = {}) =>
    dataOf(await browser.ask(path, { method: 'POST', body }))

  /**
   * Sends the same request to both processes concurrently. Returns the browser whose request was accepted.
   */
  async function race(path: string, [one, other]: [Browser, Browser], bodies: [object, object]) {
    const answers = await Promise.all([
      one.ask(path, { method: 'POST', body: bodies[0] }),
      other.ask(path, { method: 'POST', body: bodies[1] }),
    ])
    const winners = answers.map(({ status }) => status === 200)
    assert.deepEqual(winners.toSorted(), [false, true], JSON.stringify(answers.map(({ body }) => body)))
    return winners[0] ? one : other
  }

  async function invite(...options: string[]): Promise<{ email: string; token: string }> {
    const email = `person-${++count}@acme.example`
    const args = ['members', 'create', '--org', 'acme', '--email', email, ...options, '--json']
    const token = textOf(onlyJson(await cli.run(args)), 'link').split('#')[1] ?? ''
    keepSecret('token of a link', token)
    return { email, token }
  }

  /** A member who is signed in at the first process. */
  async function newMember(role = 'admin'): Promise<{ email: string; browser: Browser }> {
    const { email, token } = await invite('--role', role)
    const browser = browserAt(urls[0])
    await post(browser, '/invitation/accept', { token, password })
    await post(browser, '/sign-in', { email, password })
    return { email, browser }
  }

  /** A browser with the same cookies at the other process. */
  const elsewhere = ({ cookie, mark, roundTrip }: Browser) => browserAt(urls[1], { cookie, mark, roundTrip })

  /** Two browsers, one at each process, that have sent the password. */
  async function firstSteps(email: string) {
    const browsers: [Browser, Browser] = [browserAt(urls[0]), browserAt(urls[1])]
    const tokens = browsers.map(async (browser) => {
      const { prompt } = await post(browser, '/sign-in', { email, password })
      const token = textIn(prompt, 'token')
      keepSecret('token of a second step', token)
      return { token }
    })
    const [one = {}, other = {}] = await Promise.all(tokens)
    return { browsers, steps: [one, other] as const }
  }

  async function addTotp(browser: Browser): Promise<{ secret: string; recoveryCodes: string[] }> {
    const { token, secret } = await post(browser, '/account/totp/offer')
    const code = totpCode(String(secret), totpStep(Date.now()))
    const { recoveryCodes } = await post(browser, '/account/totp', { token, code })
    assert.ok(Array.isArray(recoveryCodes))
    keepSecret('token of an offer', String(token))
    keepSecret('secret of an authenticator app', String(secret))
    for (const each of recoveryCodes.map(String)) {
      keepSecret('recovery code', each)
      keepSecret('recovery code as it is compared', each.replaceAll('-', ''))
    }
    return { secret: String(secret), recoveryCodes: recoveryCodes.map(String) }
  }

  test('accept a code of an authenticator app once, sent to both at the same time', async () => {
    for (let round = 0; round < rounds; round++) {
      const { email, browser } = await newMember()
      const { secret } = await addTotp(browser)
      const { browsers, steps } = await firstSteps(email)
      // The code of the next time step, which is accepted too, even if that step starts meanwhile.
      const code = totpCode(secret, totpStep(Date.now()) + 1)
      const winner = await race('/sign-in/second-factor', browsers, [
        { ...steps[0], code },
        { ...steps[1], code },
      ])
      dataOf(await winner.ask('/session'))
    }
  })

  test('accept a recovery code once', async () => {
    const { email, browser } = await newMember()
    const { recoveryCodes } = await addTotp(browser)
    for (const code of recoveryCodes.slice(0, rounds)) {
      const { browsers, steps } = await firstSteps(email)
      await race('/sign-in/second-factor', browsers, [
        { ...steps[0], code },
        { ...steps[1], code },
      ])
    }
    const { recoveryCodes: left } = dataOf(await browser.ask('/account/second-factors'))
    assert.equal(left, recoveryCodes.length - rounds)
  })

  test('accept the answer to a challenge of a passkey once', async () => {
    const { browser } = await newMember()
    // Without a counter, which would make the second answer look like that of a cloned passkey.
    const passkey = softwarePasskey(publicUrl, { counts: false })
    const asked = await post(browser, '/account/passkeys/options')
    const user = { id: textIn(asked.user, 'id') }
    const response = passkey.register({ challenge: textIn(asked, 'challenge'), user })
    await post(browser, '/account/passkeys', { name: 'Laptop', response })
    for (let round = 0; round < rounds; round++) {
      const browsers: [Browser, Browser] = [browserAt(urls[0]), browserAt(urls[1])]
      const { challenge } = await post(browsers[0], '/sign-in/passkey/options')
      keepSecret('challenge', String(challenge))
      const answer = { passkey: passkey.answer({ challenge: String(challenge) }) }
      dataOf(await (await race('/sign-in/passkey', browsers, [answer, answer])).ask('/session'))
    }
  })

  test('finish a round trip to the identity provider once', async () => {
    for (let round = 0; round < rounds; round++) {
      const { email } = await invite()
      provider.visitor = { subject: email, email, isVerified: true }
      const browser = browserAt(urls[0])
      const back = await provider.visit(textIn(await post(browser, '/single-sign-on'), 'address'))
      for (const name of ['code', 'state']) keepSecret(name, back.searchParams.get(name) ?? '')
      const body = { query: back.search }
      await race('/single-sign-on/finish', [browser, elsewhere(browser)], [body, body])
    }
  })

  test('let an invitation set one password', async () => {
    for (let round = 0; round < rounds; round++) {
      const { email, token } = await invite()
      const browsers: [Browser, Browser] = [browserAt(urls[0]), browserAt(urls[1])]
      const passwords = ['correct horse of one', 'correct horse of another'] as const
      const winner = await race('/invitation/accept', browsers, [
        { token, password: passwords[0] },
        { token, password: passwords[1] },
      ])
      const [right, wrong] = winner === browsers[0] ? passwords : passwords.toReversed()
      await post(browserAt(urls[0]), '/sign-in', { email, password: right })
      const refused = { method: 'POST', body: { email, password: wrong } }
      errorOf(await browserAt(urls[1]).ask('/sign-in', refused), 'unauthorized')
    }
  })

  test('apply a lower role to a session of the other process in its next request', async () => {
    await newMember('admin')
    const { email, browser } = await newMember('admin')
    const there = elsewhere(browser)
    dataOf(await there.ask('/members'))
    const setRole = ['members', 'set-role', email, 'viewer', '--org', 'acme']
    assert.equal((await cli.run(setRole)).code, 0)
    for (const each of [browser, there]) {
      errorOf(await each.ask('/keys', { method: 'POST', body: { name: 'x', scopes: [] } }), 'forbidden')
      assert.equal(textIn(dataOf(await each.ask('/session')).member, 'role'), 'viewer')
    }
  })

  test('end a session of the other process before its next request', async () => {
    const { email, browser } = await newMember()
    const second = browserAt(urls[1])
    await post(second, '/sign-in', { email, password })
    dataOf(await second.ask('/session'))
    await post(browser, '/account/end-other-sign-ins')
    errorOf(await second.ask('/session'), 'unauthorized')
  })

  test('refuse every cookie from before a password change in the next request', async () => {
    const { email, browser } = await newMember()
    const [stolen, second] = [elsewhere(browser), browserAt(urls[1])]
    await post(second, '/sign-in', { email, password })
    for (const each of [stolen, second]) dataOf(await each.ask('/session'))
    await post(browser, '/account/password', { currentPassword: password, password: 'copper meadow lantern' })
    for (const each of [stolen, second]) errorOf(await each.ask('/session'), 'unauthorized')
    dataOf(await elsewhere(browser).ask('/session'))
  })

  test('keep none of these secrets in a table, a log line or an error', async (t) => {
    // Unfinished sign-ins and an invitation leave rows too.
    const browser = browserAt(urls[0])
    const { searchParams } = new URL(textIn(await post(browser, '/single-sign-on'), 'address'))
    keepSecret('state', searchParams.get('state') ?? '')
    keepSecret('challenge', textIn(await post(browser, '/sign-in/passkey/options'), 'challenge'))
    await invite()
    const { email, browser: waiting } = await newMember()
    await addTotp(waiting)
    await firstSteps(email)

    assert.ok(Object.keys(secrets).length > 80, 'few secrets were seen')
    assert.ok(refusals.length > 10)
    const tables = await rowsByTable(t)
    for (const name of ['sign_ins', 'sign_in_challenges', 'recovery_codes', 'passkeys', 'activity'])
      assert.ok(tables[name]?.includes('('), name)
    for (const [name, rows] of Object.entries(tables)) assertAbsent(secrets, rows, `the table ${name}`)
    assertAbsent(secrets, logged(), 'the log')
    assertAbsent(secrets, JSON.stringify(refusals), 'a refusal')
  })

  /** Everything that the service stores in the database, as text. */
  async function rowsByTable(t: TestContext): Promise<Record<string, string>> {
    const client = new Client({ connectionString: store })
    await client.connect()
    t.after(() => client.end())
    const names = await client.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    )
    const tables: Record<string, string> = {}
    for (const { name } of names.rows) {
      const { rows } = await client.query<{ row: string }>(`SELECT each::text AS row FROM ${name} AS each`)
      tables[name] = rows.map(({ row }) => row).join('\n')
    }
    return tables
  }
})
