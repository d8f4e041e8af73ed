import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { errorOf } from '../support/answers.ts'
import { freePort } from '../support/free-port.ts'
import { missing } from '../support/missing.ts'
import type { Lifetime } from '../support/service.ts'
import { subjectPath } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type ProxyRequest, proxyContract } from './proxy-contract.ts'
import { askHttp2, askProxy, makeCertificate, runProxy, sendRaw } from './run-proxy.ts'

const example = readFileSync(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url), 'utf8')
const skip = missing('haproxy') || missing('openssl')
const certified = skip ? { folder: '', ca: '' } : makeCertificate({ after })
const env = { PATH: `${process.env.PATH}:/usr/sbin` }

/** The example on its own ports, with a test certificate and a readable log. */
function prepare(t: Lifetime, port: number, upstreamPort: number): string {
  let text = example
  for (const [theirs, ours] of [
    ['bind :443 ssl crt /etc/ssl/lethe/', `bind 127.0.0.1:${port} ssl crt ${certified.folder}/`],
    ['log /dev/log local0', 'log stdout format raw local0'],
    // Without the health check, so that a stopped or missing service still receives requests.
    ['    option httpchk GET /readyz\n', ''],
    ['127.0.0.1:8080 check', `127.0.0.1:${upstreamPort}`],
  ] as const) {
    assert.ok(text.includes(theirs), `${theirs} is not in the example`)
    text = text.replaceAll(theirs, ours)
  }
  const file = join(temporaryFolder(t), 'haproxy.cfg')
  writeFileSync(file, text)
  return file
}

async function openHaproxy(t: Lifetime, upstreamPort: number) {
  const port = await freePort()
  const { ca } = certified
  const file = prepare(t, port, upstreamPort)
  const { output, stop } = await runProxy(t, port, 'haproxy', ['-db', '-f', file], env)
  return {
    ask: (target: string, request?: ProxyRequest) => askProxy(port, target, request, ca),
    askHttp2: (target: string, request: ProxyRequest = {}) => askHttp2(port, target, request, ca),
    send: (bytes: string) => sendRaw(port, bytes, ca),
    logged: output,
    stop,
  }
}

describe('the example for HAProxy', () => {
  test('is valid', { skip }, (t) => {
    const file = prepare(t, 1443, 8080)
    const args = ['-c', '-f', file]
    const { status, stdout, stderr } = spawnSync('haproxy', args, {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
    assert.equal(status, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /WARNING/)
  })

  // HAProxy’s parser answers these before it applies the configured rules.
  const plainText = [
    'an unknown transfer coding',
    'two hosts',
    'two lengths',
    'no request line',
    'a header without a name',
  ]
  proxyContract(openHaproxy, skip, { plainText })

  test('responds in the envelope if the service is down', { skip }, async (t) => {
    const haproxy = await openHaproxy(t, await freePort())
    errorOf(await haproxy.ask(subjectPath('anna')), 'internal_error')
  })
})
