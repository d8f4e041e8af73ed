import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { auditVerdict } from '../../scripts/audit-verdict.ts'
import { listen } from '../support/listen.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const script = fileURLToPath(new URL('../../scripts/audit.ts', import.meta.url))

const advisory = {
  id: 1,
  url: 'https://example.com/advisory',
  title: 'Loggers that listen',
  severity: 'low',
  vulnerable_versions: '*',
}

describe('npm run audit', { skip: missing('npm') }, () => {
  it('fails if the registry reports a vulnerability, and prints it', async () => {
    const { code, output } = await auditAt((request, response) => {
      const isQuestion = request.method === 'POST'
      response.end(JSON.stringify(isQuestion ? { pino: [advisory] } : packageOf(request.url ?? '')))
    })
    assert.equal(code, 1, output)
    assert.match(output, /^audit: [1-9]\d* of \d+ packages have known vulnerabilities$/m)
    assert.match(output, /Loggers that listen/)
  })
})

describe('the result of an audit', () => {
  it('is success if the registry reports nothing', () => {
    const metadata = { vulnerabilities: { total: 0 }, dependencies: { total: 157 } }
    const { passes, says } = auditVerdict({ metadata })
    assert.deepEqual([passes, says], [true, '0 of 157 packages have known vulnerabilities'])
  })

  it('is success if the registry cannot be reached', () => {
    const { passes, says } = auditVerdict({ message: '405 Method Not Allowed', statusCode: 405 })
    assert.deepEqual([passes, says], [true, 'skipped: this registry has no advisories (405)'])
  })

  it('is failure if the registry reports a vulnerability', () => {
    const { passes, says } = auditVerdict({ message: '503 Service Unavailable', statusCode: 503 })
    assert.deepEqual([passes, says], [false, 'failed: 503 Service Unavailable'])
    assert.deepEqual(auditVerdict({}), {
      passes: false,
      vulnerable: 0,
      says: 'failed: npm printed no reason',
    })
  })
})

/** The metadata of a package in a registry, with another version without dependencies. */
function packageOf(url: string): object {
  const name = decodeURIComponent(url.slice(1))
  const version = '1.0.0'
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist: {} } } }
}

/** Runs the audit with a registry that responds like this. */
async function auditAt(answer: RequestListener): Promise<{ code: unknown; output: string }> {
  const server = createServer(answer)
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${await listen(server)}/`,
    npm_config_cache: temporaryFolder({ after }),
    npm_config_fetch_retries: '0',
  }
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  server.close()
  server.closeAllConnections()
  return { code, output: stdout + stderr }
}
