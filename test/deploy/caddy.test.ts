import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { errorOf } from '../support/answers.ts'
import { freePort } from '../support/free-port.ts'
import { missing } from '../support/missing.ts'
import { subjectPath } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type OpenProxy, proxyContract } from './proxy-contract.ts'
import { askHttp2, askProxy, makeCertificate, runProxy, sendRaw } from './run-proxy.ts'

const path = fileURLToPath(new URL('../../deploy/caddy/Caddyfile', import.meta.url))
const example = readFileSync(path, 'utf8')
const skip = missing('caddy') || missing('openssl')
const certified = skip ? { folder: '', ca: '' } : makeCertificate({ after })

/** The example on its own port, with a test certificate instead of one by a public authority. */
const openCaddy: OpenProxy = async (t, upstreamPort) => {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const { ca } = certified
  let site = example
  for (const [theirs, ours] of [
    ['\n{\n', '\n{\n\tadmin off\n\tauto_https off\n'],
    [
      'lethe.example {',
      `https://:${port} {\n\ttls ${certified.folder}/fullchain.pem ${certified.folder}/privkey.pem`,
    ],
    ['127.0.0.1:8080', `127.0.0.1:${upstreamPort}`],
  ] as const) {
    assert.ok(site.includes(theirs), `${theirs} is not in the example`)
    site = site.replace(theirs, ours)
  }
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, site)
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const args = ['run', '--config', file, '--adapter', 'caddyfile']
  const { output, stop } = await runProxy(t, port, 'caddy', args, env)
  return {
    ask: (target, request = {}) => askProxy(port, target, request, ca),
    askHttp2: (target, request = {}) => askHttp2(port, target, request, ca),
    send: (bytes) => sendRaw(port, bytes, ca),
    logged: output,
    stop,
  }
}

describe('the example for Caddy', () => {
  test('is valid, and formatted by Caddy’s rules', { skip }, (t) => {
    const env = { ...process.env, HOME: temporaryFolder(t) }
    const args = ['validate', '--config', path, '--adapter', 'caddyfile']
    const { status, stderr } = spawnSync('caddy', args, { encoding: 'utf8', env })
    assert.equal(status, 0, stderr)
    assert.equal(spawnSync('caddy', ['fmt', path], { encoding: 'utf8', env }).stdout, example)
  })

  // Go’s server refuses these before Caddy sees them.
  const plainText = [
    ...['another version of HTTP', 'an unknown transfer coding', 'no host', 'two hosts'],
    ...['two lengths', 'no request line', 'a broken path'],
  ]
  proxyContract(openCaddy, skip, { plainText })

  test('responds in the envelope if the service is down', { skip }, async (t) => {
    const caddy = await openCaddy(t, await freePort())
    const answer = await caddy.ask(subjectPath('anna'))
    errorOf(answer, 'internal_error')
  })
})
