import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { Answer } from '../support/documented.ts'
import type { Lifetime } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import type { ProxyRequest } from './proxy-contract.ts'

/** A certificate for `lethe.example` in a folder: `fullchain.pem`, `privkey.pem`, and both in `lethe.pem`. */
export function makeCertificate(t: Lifetime): { folder: string; ca: string } {
  const folder = temporaryFolder(t)
  const [certificate, privateKey] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')]
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=lethe.example', '-addext', 'subjectAltName=DNS:lethe.example'],
      ...['-keyout', privateKey, '-out', certificate],
    ],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  const ca = readFileSync(certificate, 'utf8')
  writeFileSync(join(folder, 'lethe.pem'), ca + readFileSync(privateKey, 'utf8'))
  return { folder, ca }
}

/** Runs a proxy in the foreground until it listens on `port`, and stops it after the test at the latest. */
export async function runProxy(
  t: Lifetime,
  port: number,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ output(): string; stop(): Promise<void> }> {
  const child = spawn(command, args, { env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'close')
  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    await ended
  }
  t.after(stop)
  await until(async () => {
    assert.equal(child.exitCode, null, `${command} ended: ${output}`)
    return accepts(port)
  })
  return { output: () => output, stop }
}

/** Sends bytes unchanged, over TLS if a CA is given, and returns the complete response. */
export function sendRaw(port: number, bytes: string, ca?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = ca
      ? connectTls({ host: '127.0.0.1', port, ca, servername: 'lethe.example', ALPNProtocols: ['http/1.1'] })
      : connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
      // A server that keeps the connection has sent its whole response.
      const [, length] = /^content-length: (\d+)\r$/im.exec(answer) ?? []
      if (length !== undefined && answer.length >= answer.indexOf('\r\n\r\n') + 4 + Number(length))
        socket.end()
    })
    socket.once('error', reject).once('close', () => resolve(answer))
    socket.write(bytes, 'latin1')
  })
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** Sends a request with an unchanged target, over TLS if a CA is given. */
export function askProxy(
  port: number,
  target: string,
  { method = 'GET', key, headers = {}, body = '', from = '127.0.0.1' }: ProxyRequest = {},
  ca?: string,
): Promise<Answer> {
  const options = {
    host: '127.0.0.1',
    port,
    path: target,
    method,
    localAddress: from,
    agent: false,
    headers: {
      Host: 'lethe.example',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== '' && { 'Content-Length': Buffer.byteLength(body) }),
      ...headers,
    },
  }
  return new Promise((resolve, reject) => {
    const sent = ca
      ? requestHttps({ ...options, ca, servername: 'lethe.example' })
      : requestHttp({ ...options })
    sent.once('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({
        status: response.statusCode ?? 0,
        headers: new Headers(
          Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ),
        body: response.headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : text,
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

/** Sends a request over HTTP/2, like a browser. */
export async function askHttp2(
  port: number,
  target: string,
  { method = 'GET', key, headers = {}, body = '' }: ProxyRequest,
  ca: string,
): Promise<Answer> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, servername: 'lethe.example' })
  try {
    const stream = session.request({
      ':method': method,
      ':path': target,
      ':authority': 'lethe.example',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    })
    const responded = once(stream, 'response')
    // A server that refuses a body may respond before its end, and reset the rest.
    stream.on('error', () => {})
    if (body !== '') stream.end(body)
    const [received] = await responded
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += chunk
    const { ':status': status, 'set-cookie': cookies = [], ...others } = received
    const isJson = String(received['content-type']).startsWith('application/json')
    return {
      status: Number(status),
      headers: new Headers([
        ...Object.entries(others).map(([name, value]): [string, string] => [name, String(value)]),
        ...cookies.map((cookie: string): [string, string] => ['set-cookie', cookie]),
      ]),
      body: isJson ? JSON.parse(text) : text,
    }
  } finally {
    session.close()
  }
}
