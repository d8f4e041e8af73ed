import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { totpCode, totpStep } from '../../src/factors/totp-codes.ts'
import { createKey, startRoomyServer } from '../robustness/kill/server.ts'
import { buildShop } from '../robustness/kill/visits.ts'
import { dataOf, errorOf, objectIn, textIn } from '../support/answers.ts'
import { commandLine, jsonLines, type RunningProgram } from '../support/command-line.ts'
import { visitor } from '../support/console.ts'
import {
  clientId,
  clientSecret,
  startIdentityProvider,
  type TestProvider,
} from '../support/identity-provider.ts'
import { noProc } from '../support/missing.ts'
import { askRaw, openRawConnection, requestText } from '../support/raw-http.ts'
import { cheapHashing } from '../support/scrypt-once.ts'
import { subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { assertAbsent } from './markers.ts'

const subject = 'subject-marker-é'
const email = 'mail-marker@acme.example'
const passwords = { right: 'right-password-marker', wrong: 'wrong-password-marker' }
const attribute = 'attribute-marker'
const sessionId = 'session-id-marker'

describe('secrets that enter in every way', { skip: noProc }, () => {
  const cli = commandLine({ after })
  let server: RunningProgram & { url: string }
  let provider: TestProvider
  const oidc: Record<string, string> = {}
  let metricsUrl: string
  /** What must not be written anywhere, except the rows of a live subject in the store. */
  const personal: Record<string, string> = { subject, attribute, sessionId, ...passwords }
  /** What must never be in the store either. */
  const credentials: Record<string, string> = { ...passwords }
  /** The output of the commands and tests. */
  let told = ''

  before(async () => {
    const rows = visit(subject, { sessionId, attributes: { note: attribute } })
    await buildShop(cli.storePath, [...rows, ...visit('second-subject-marker'), ...visit('third')])
    provider = await startIdentityProvider({ after })
    const secretFile = join(temporaryFolder({ after }), 'client-secret')
    writeFileSync(secretFile, clientSecret)
    Object.assign(oidc, { LETHE_OIDC_ISSUER: provider.issuer, LETHE_OIDC_CLIENT_ID: clientId })
    Object.assign(oidc, { LETHE_OIDC_CLIENT_SECRET_FILE: secretFile })
    server = await startRoomyServer(cli, {
      ...oidc,
      LETHE_LOG_LEVEL: 'trace',
      LETHE_METRICS_PORT: '0',
      NODE_OPTIONS: `--report-on-signal --report-on-fatalerror --report-directory=${cli.folder} ${cheapHashing}`,
      LETHE_API_KEY: '',
      LETHE_TEST_MARKER: 'environment-marker',
    })
    ;[, metricsUrl = ''] = await server.waitFor('stdout', /"metricsUrl":"([^"]+)"/)
    const key = await createKey(cli)
    const list = dataOf(await askRaw(server.url, `${subjectsPath}?limit=1`, { key }))
    // The ID of a key is not secret; the rest is.
    const secret = key.slice(-38)
    Object.assign(credentials, { key: secret, cursor: textIn(list, 'nextCursor') })
    await useTheApi(key, textIn(list, 'nextCursor'))
    await useTheConsole()
    await useEveryFactor()
  })

  async function useTheApi(key: string, cursor: string): Promise<void> {
    const damaged = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
    const targets = [
      subjectPath(subject),
      `${subjectPath(subject)}/events?sessionId=${sessionId}`,
      `${subjectsPath}?subjectIdPrefix=${encodeURIComponent(subject)}`,
      `${subjectsPath}?cursor=${cursor}`,
      `${subjectsPath}?cursor=${cursor}x`,
      `${subjectsPath}?${encodeURIComponent(subject)}=${key}&limit=${attribute}`,
      `${subjectPath(subject)}%00`,
      `/v1/${encodeURIComponent(subject)}`,
      `${subjectPath(subject)}%zz`,
    ]
    for (const target of targets) {
      for (const sent of [key, damaged]) await askRaw(server.url, target, { key: sent })
      const headers = {
        'X-Request-Id': `sent with ${key}`,
        Cookie: `lethe=${passwords.wrong}`,
        'User-Agent': attribute,
        Referer: subjectPath(subject),
      }
      await askRaw(server.url, target, { key, headers })
    }
    await askRaw(server.url, subjectPath('second-subject-marker'), {
      key,
      method: 'DELETE',
      headers: { 'X-Request-Id': 'erase second-subject-marker' },
      body: '',
    })
    const line = { type: 'event', subjectId: subject, sessionId, name: attribute, occurredAt: 'never' }
    for (const lines of [[line], [{ ...line, occurredAt: new Date().toISOString() }], [key]]) {
      const body = JSON.stringify({ lines })
      const sent = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
      const headers = { ...sent, 'X-Request-Id': `lines of ${subject}`.replace('é', 'e') }
      const latin1 = Buffer.from(body).toString('latin1')
      for (const sent of [key, damaged]) {
        const request = { key: sent, method: 'POST', headers, body: latin1 }
        await askRaw(server.url, '/v1/ingest/trackers/shop/batches', request)
      }
    }
    for (const nonsense of [
      `GET ${subjectPath(subject)} HTTP/9.9\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      `${key}\r\n\r\n`,
    ]) {
      const connection = await openRawConnection(server.url)
      connection.send(nonsense)
      await connection.rest()
    }
    const leaver = await openRawConnection(server.url)
    leaver.send(requestText(subjectPath(subject), { key }))
    leaver.hangUp()
  }

  async function useTheConsole(): Promise<void> {
    const [made] = jsonLines(
      (await cli.run(['members', 'create', '--org', 'acme', '--email', email, '--json'])).stdout,
    )
    const token = String(made?.link).split('#')[1] ?? ''
    const browser = visitor(server)
    const post = (path: string, body: unknown) => browser.ask(path, { method: 'POST', body })
    await post('/invitation/accept', { token, password: passwords.right })
    await post('/sign-in', { email, password: passwords.wrong })
    dataOf(await post('/sign-in', { email, password: passwords.right }))
    const cookie = browser.cookie?.split('=')[1] ?? ''
    const created = dataOf(await post('/keys', { name: 'made here', scopes: ['analytics:view'] }))
    const second = textIn(created, 'keyString')
    await post(`/keys/${textIn(objectIn(created, 'key'), 'id')}/revoke`, { name: second })
    await browser.ask(`/trackers/shop/subjects/${encodeURIComponent(subject)}`)
    await browser.ask(`/trackers/shop/subjects/${encodeURIComponent(subject)}/export`)
    await post('/requests', `{"person": ${attribute}`)
    Object.assign(credentials, { token, cookie, secondKey: second.slice(-38) })
    Object.assign(personal, { email })
  }

  /** Signs in with every factor and with single sign-on, also incorrectly, and leaves challenges open. */
  async function useEveryFactor(): Promise<void> {
    const at = { url: server.url.replace('127.0.0.1', 'localhost') }
    provider.register(at.url)
    const browser = visitor(at)
    const post = (path: string, body: unknown = {}) => browser.ask(path, { method: 'POST', body })
    const signIn = async () =>
      textIn(dataOf(await post('/sign-in', { email, password: passwords.right })).prompt, 'token')
    dataOf(await post('/sign-in', { email, password: passwords.right }))
    const { token, secret } = dataOf(await post('/account/totp/offer'))
    const code = totpCode(String(secret), totpStep(Date.now()))
    const { recoveryCodes } = dataOf(await post('/account/totp', { token, code }))
    assert.ok(Array.isArray(recoveryCodes))
    const [used, unused] = recoveryCodes.map(String)
    const asked = await signIn()
    errorOf(await post('/sign-in/second-factor', { token: asked, code: `${used}x` }), 'unauthorized')
    errorOf(await post('/sign-in/second-factor', { token: `${asked}x`, code: used }), 'invalid_request')
    dataOf(await post('/sign-in/second-factor', { token: asked, code: used }))
    const signedIn = browser.cookie?.split('=')[1] ?? ''
    const open = await signIn()
    const { challenge } = dataOf(await post('/sign-in/passkey/options'))

    provider.visitor = { subject: 'subject-of-marker', email, isVerified: true }
    const roundTrip = async () => provider.visit(textIn(dataOf(await post('/single-sign-on')), 'address'))
    const back = await roundTrip()
    dataOf(await post('/single-sign-on/finish', { query: back.search }))
    errorOf(await post('/single-sign-on/finish', { query: back.search }), 'invalid_request')
    const failed = await roundTrip()
    const forged = failed.search.replace('code=', 'code=x')
    assert.equal((await post('/single-sign-on/finish', { query: forged })).status, 401)
    const unfinished = await roundTrip()
    Object.assign(credentials, {
      ...{
        offered: String(token),
        totpSecret: String(secret),
        used,
        unused,
        asked,
        open,
        signedIn,
        clientSecret,
      },
      ...{ challenge: String(challenge), bySingleSignOn: browser.cookie?.split('=')[1] ?? '' },
      roundTrip: browser.roundTrip?.split('=')[1] ?? '',
    })
    for (const [name, trip] of Object.entries({ back, failed, unfinished })) {
      for (const what of ['code', 'state'])
        credentials[`${what} of ${name}`] = trip.searchParams.get(what) ?? ''
    }
    const { body: activity } = await browser.ask('/activity')
    assert.match(JSON.stringify(activity), /member\.sign-in-failed/)
    assertAbsent(credentials, JSON.stringify(activity), 'the activity')
  }

  it('are in no output of lethe config, status or activity', async () => {
    for (const args of [
      ['config'],
      ['config', '--json'],
      ['status'],
      ['activity', '--org', 'acme', '--json'],
    ]) {
      const { code, stdout, stderr } = await cli.run(args, { env: oidc })
      assert.equal(code, 0, stderr)
      assertAbsent(credentials, stdout + stderr, `lethe ${args.join(' ')}`)
    }
  })

  it('are in no log line at the most verbose level, and in no metric', async () => {
    await until(() => /"status":400.*\n.*"keyId":null/.test(server.stdout()))
    const metrics = await (await fetch(metricsUrl)).text()
    assert.ok(server.stdout().split('\n').length > 30)
    for (const secrets of [personal, credentials, { subject: 'subject-marker' }]) {
      assertAbsent(secrets, server.stdout(), 'the log')
      assertAbsent(secrets, server.stderr(), 'standard error')
      assertAbsent(secrets, metrics, 'the metrics')
    }
  })

  it('are in no import error, whatever is wrong with a line', async (t) => {
    const lines = [
      `{"type":"event","subjectId":"${subject}","sessionId":"${sessionId}"`,
      `"${subject}" ${attribute}`,
      JSON.stringify({ type: subject, subjectId: subject, [attribute]: attribute }),
      JSON.stringify({
        type: 'event',
        trackerId: 'shop',
        subjectId: subject,
        name: attribute,
        occurredAt: attribute,
        sessionId,
      }),
      JSON.stringify({
        type: 'event',
        trackerId: attribute,
        subjectId: subject,
        name: 'n',
        occurredAt: '2026-11-15T00:00:00Z',
        sessionId,
        eventId: 'e',
      }),
      JSON.stringify({
        type: 'session',
        trackerId: 'shop',
        subjectId: `${subject}\u0000`,
        sessionId,
        startedAt: subject,
        endedAt: subject,
        attributes: attribute,
      }),
    ]
    const file = join(temporaryFolder(t), 'lines.ndjson')
    writeFileSync(file, `${lines.join('\n')}\n`)
    for (const strict of [[], ['--strict']]) {
      const { stdout, stderr, code } = await cli.run(['import', ...strict, file])
      assert.equal(code, 1)
      told += stdout + stderr
    }
    assert.match(told, /6 bad/)
    assertAbsent(
      { subject, subjectAscii: 'subject-marker', sessionId, ...passwords },
      told,
      'what the import says',
    )
  })

  it('are not repeated if an invalid setting contains them', async () => {
    const password = 'setting-password-marker'
    const settings: Record<string, string>[] = [
      { LETHE_STORE: `postgres:/lethe:${password}@127.0.0.1/lethe` },
      { LETHE_STORE: `mysql://lethe:${password}@127.0.0.1/lethe` },
      { LETHE_STORE: `postgres://lethe:${password}@127.0.0.1:1/lethe` },
      { LETHE_STORE: `postgres://lethe:${password}@[/lethe` },
      { LETHE_LIMITER: `redis://:${password}@127.0.0.1:port` },
      { LETHE_LIMITER: `rediss:/:${password}@127.0.0.1` },
      { LETHE_PUBLIC_URL: `https://lethe:${password}@lethe.example` },
      { LETHE_URL: `https://lethe:${password}@lethe.example` },
      { LETHE_API_KEY: `lethe_${password}` },
    ]
    for (const env of settings) {
      const { code, stdout, stderr } = await cli.run(['serve'], { env })
      assert.ok(code === 1 || code === 2, stderr)
      assertAbsent({ password }, stdout + stderr, Object.keys(env).join())
    }
  })

  it('are in no command line, and a Node report leaves the environment out', async () => {
    assertAbsent(
      { ...personal, ...credentials },
      readFileSync(`/proc/${server.pid}/cmdline`),
      'the command line',
    )
    server.kill('SIGUSR2')
    const reports = () => readdirSync(cli.folder).filter((file) => /^report\..*\.json$/.test(file))
    await until(() =>
      reports().some((file) => readFileSync(join(cli.folder, file), 'utf8').trimEnd().endsWith('}')),
    )
    for (const file of reports()) {
      const text = readFileSync(join(cli.folder, file), 'utf8')
      assertAbsent({ ...personal, ...credentials, environment: 'environment-marker' }, text, 'the report')
    }
  })

  it('are in no answer and no log line if the store breaks', async () => {
    const key = await createKey(cli, 'for the end')
    const db = new DatabaseSync(cli.storePath, { timeout: 10_000 })
    db.exec('PRAGMA foreign_keys = OFF; ALTER TABLE events RENAME TO elsewhere')
    const before = server.stdout().length
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await askRaw(
        server.url,
        `${subjectPath(subject)}${method === 'GET' ? '/events' : ''}`,
        { key, method },
      )
      assert.equal(status, 500)
      assertAbsent({ subject }, JSON.stringify(body), 'the answer')
    }
    db.exec('ALTER TABLE elsewhere RENAME TO events')
    db.close()
    await until(
      () =>
        (server
          .stdout()
          .slice(before)
          .match(/request failed/g)?.length ?? 0) === 2,
    )
    assertAbsent({ ...personal, ...credentials, key: key.slice(-38) }, server.stdout(), 'the log')
  })

  it('are in no file of the store if they are credentials; after an erasure and a scrub, none are', async () => {
    const files = () =>
      readdirSync(cli.folder)
        .filter((file) => file.startsWith('lethe.db'))
        .map((file): [string, Buffer] => [file, readFileSync(join(cli.folder, file))])
    assert.ok(files().some(([, bytes]) => bytes.includes(subject)))
    for (const [file, bytes] of files()) assertAbsent(credentials, bytes, file)
    const key = await createKey(cli, 'to erase with')
    dataOf(await askRaw(server.url, subjectPath(subject), { key, method: 'DELETE' }))
    assert.equal((await cli.run(['scrub'])).code, 0)
    server.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
    const { email: _, ...gone } = personal
    for (const [file, bytes] of files()) {
      assertAbsent(
        { ...gone, ...credentials, second: 'second-subject-marker', ascii: 'subject-marker' },
        bytes,
        file,
      )
    }
  })
})
