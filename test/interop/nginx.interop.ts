import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { runProxy } from '../deploy/run-proxy.ts'
import { freePort } from '../support/free-port.ts'
import { missing } from '../support/missing.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startTestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { goodRequests, mutatedRequest } from './mutate-request.ts'
import { reasonFor, type Verdict } from './named-reasons.ts'
import { write } from './tools.ts'

const requestCount = 10_000
const lanes = 16

/** An nginx that reads whole requests as strictly as possible, and accepts all of them. */
async function startNginx(t: TestContext): Promise<number> {
  const folder = temporaryFolder(t)
  const [port, behind] = [await freePort(), await freePort()]
  mkdirSync(join(folder, 'temp'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/temp/${name};`,
  )
  const main = write(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr emerg;
     events { worker_connections 1024; }
     http {
       ${paths.join(' ')} access_log off;
       large_client_header_buffers 4 16k; ignore_invalid_headers off; underscores_in_headers on;
       server {
         listen 127.0.0.1:${port};
         proxy_ignore_client_abort on; proxy_http_version 1.1; proxy_set_header Host nginx;
         location / { proxy_pass http://127.0.0.1:${behind}; }
       }
       server { listen 127.0.0.1:${behind}; location / { return 200 "taken"; } }
     }`,
  )
  const env = { PATH: `${process.env.PATH}:/usr/sbin` }
  await runProxy(t, port, 'nginx', ['-p', folder, '-c', main, '-e', 'stderr'], env)
  return port
}

/** Sends a text, and returns everything that the server sends. */
function hearOut(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      answer += part
    })
    // A refused client may lose the connection while it is still sending.
    socket.on('error', () => {}).once('close', () => resolve(answer))
    socket.end(text, 'latin1')
  })
}

/** The results of the requests on a connection, up to the first that was refused for its form. */
function verdictOn(answer: string): Verdict {
  const heads = [...answer.matchAll(/HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)/g)]
  const final = heads.filter(([, status]) => status !== '100')
  const refused = final.findIndex(([, status = '', head = '']) =>
    status === '400' ? !/^allow:/im.test(head) : /^(405|4[01][2-9]|421|431|5)/.test(status),
  )
  return {
    taken: refused === -1 ? final.length : refused,
    statuses: final.map(([, status = '']) => status),
    messages: Array.from(answer.matchAll(/"message":"([^"]*)"/g), ([, message = '']) => message),
  }
}

describe(`${requestCount} mutated requests to Lethe and nginx`, () => {
  const skip = missing('nginx')
  test('are accepted by both or by neither, except for a documented reason', { skip }, async (t) => {
    const service = await startTestService(t)
    const [ours, theirs] = [Number(new URL(service.url).port), await startNginx(t)]
    const random = seededRandom(Number(process.env.LETHE_TEST_SEED ?? 20_261_117))
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}`)
    async function judge(request: string) {
      const lethe = verdictOn(await hearOut(ours, request))
      const nginx = verdictOn(await hearOut(theirs, request))
      assert.ok(!lethe.statuses.some((status) => status.startsWith('5')), request)
      return { request, lethe, nginx, reason: reasonFor(request, lethe, nginx) }
    }
    for (const request of goodRequests) assert.equal((await judge(request)).reason, 'taken by both', request)

    const tally = new Map<string, number>()
    const unexplained: object[] = []
    let left = requestCount
    async function lane(): Promise<void> {
      while (left-- > 0) {
        const judged = await judge(mutatedRequest(random))
        if (judged.reason === null) unexplained.push(judged)
        else tally.set(judged.reason, (tally.get(judged.reason) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    for (const [reason, count] of [...tally].sort(([, a], [, b]) => b - a))
      t.diagnostic(`${count}: ${reason}`)
    for (const each of unexplained.slice(0, 20)) t.diagnostic(JSON.stringify(each))
    assert.equal(unexplained.length, 0, 'there are differences without a reason')
  })
})
