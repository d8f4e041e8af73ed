import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf } from '../support/answers.ts'
import { addMember, password } from '../support/console.ts'
import { freePort } from '../support/free-port.ts'
import { missing } from '../support/missing.ts'
import type { Lifetime } from '../support/service.ts'
import { startShop, subjectPath } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type ProxyRequest, proxyContract } from './proxy-contract.ts'
import { askHttp2, askProxy, makeCertificate, runProxy, sendRaw } from './run-proxy.ts'

const example = readFileSync(new URL('../../deploy/nginx/lethe.conf', import.meta.url), 'utf8')
const skip = missing('nginx') || missing('openssl')
const env = { PATH: `${process.env.PATH}:/usr/sbin` }

const certified = skip ? { folder: '', ca: '' } : makeCertificate({ after })

/** The example in its own folder, with ports, a certificate and logs for a test. */
function prepare(t: Lifetime, port: number, upstreamPort: number) {
  const folder = temporaryFolder(t)
  let site = example
  for (const [theirs, ours] of [
    ['listen [::]:443 ssl http2;', ''],
    ['listen 443 ', `listen ${port} `],
    ['127.0.0.1:8080', `127.0.0.1:${upstreamPort}`],
    ['/etc/ssl/lethe/', `${certified.folder}/`],
    ['/var/log/nginx/', `${folder}/`],
  ] as const) {
    assert.ok(site.includes(theirs), `${theirs} is not in the example`)
    site = site.replaceAll(theirs, ours)
  }
  const main = join(folder, 'nginx.conf')
  writeFileSync(join(folder, 'lethe.conf'), site)
  mkdirSync(join(folder, 'temp'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/temp/${name};`,
  )
  writeFileSync(
    main,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {} http { ${paths.join(' ')} include ${folder}/lethe.conf; }`,
  )
  return { folder, main }
}

async function openNginx(t: Lifetime, upstreamPort: number) {
  const port = await freePort()
  const { folder, main } = prepare(t, port, upstreamPort)
  const { ca } = certified
  const { output, stop } = await runProxy(t, port, 'nginx', ['-p', folder, '-c', main, '-e', 'stderr'], env)
  return {
    ask: (target: string, request?: ProxyRequest) => askProxy(port, target, request, ca),
    askHttp2: (target: string, request: ProxyRequest = {}) => askHttp2(port, target, request, ca),
    send: (bytes: string) => sendRaw(port, bytes, ca),
    sendPlain: (bytes: string) => sendRaw(port, bytes),
    logged: () =>
      [
        output(),
        ...['lethe.log', 'lethe-error.log'].map((name) => readFileSync(join(folder, name), 'utf8')),
      ].join(),
    stop,
  }
}

describe('the example for nginx', () => {
  test('is valid', { skip }, (t) => {
    const { folder, main } = prepare(t, 1443, 8080)
    const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', main, '-e', 'stderr'], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /warn/)
  })

  proxyContract(openNginx, skip)

  test('supports signing in to the console with a Secure cookie from its own origin, and logs requests without their URL', {
    skip,
  }, async (t) => {
    const shop = await startShop(t, {
      scopes: ['analytics:view'],
      env: { LETHE_TRUSTED_PROXIES: '127.0.0.1' },
    })
    const { email } = await addMember(shop, shop.organisationId)
    const nginx = await openNginx(t, Number(new URL(shop.url).port))
    const signIn = (origin: string, headers: Record<string, string> = {}) =>
      nginx.ask('/console/api/sign-in', {
        method: 'POST',
        headers: { Origin: origin, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ email, password }),
      })
    const answer = await signIn('https://lethe.example', { 'X-Forwarded-Proto': 'http' })
    dataOf(answer)
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-lethe-console=.*; Path=\/; .*; Secure$/)
    errorOf(await signIn('https://evil.example', { 'X-Forwarded-Host': 'evil.example' }), 'forbidden')
    const chosen = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34'
    await nginx.ask(subjectPath('anna'), { key: shop.key, headers: { 'X-Request-Id': chosen } })
    await nginx.stop()
    assert.match(nginx.logged(), new RegExp(`^,?\\S+ GET 404 \\d+ [\\d.]+ [\\d.]+ ${chosen}$`, 'm'))
  })

  test('responds in the envelope to plain HTTP, to refused requests, and if the service is down', {
    skip,
  }, async (t) => {
    const nginx = await openNginx(t, await freePort())
    const answer = await nginx.sendPlain('GET /path-marker HTTP/1.1\r\nHost: lethe.example\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /\r\nContent-Type: application\/json.*"code":"invalid_request"/s)
    for (const target of ['/%zz', '/%00', `/${'x'.repeat(20_000)}`]) {
      errorOf(await nginx.ask(target), 'invalid_request')
    }
    errorOf(await nginx.ask('/', { method: 'DELETE', body: 'x'.repeat(6_000_000) }), 'invalid_request')
    errorOf(await nginx.ask(subjectPath('anna')), 'internal_error')
    await nginx.stop()
    assert.doesNotMatch(nginx.logged(), /marker/)
  })
})
