// The upper limit: Node's own server or Fastify, answering with fixed bodies.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import fastify from 'fastify'

/** The response below `/<place>/`. */
export interface BareAnswer {
  place: string
  method: 'GET' | 'DELETE'
  status: number
  body: unknown
}

const [framework, file = ''] = process.argv.slice(2)
const answers: BareAnswer[] = JSON.parse(readFileSync(file, 'utf8'))
const address = { host: '127.0.0.1', port: Number(process.env.LETHE_PORT) }

if (framework === 'fastify') {
  const app = fastify()
  for (const { place, method, status, body } of answers) {
    const answer = status === 200 ? () => body : (_: unknown, reply: Reply) => reply.code(status).send(body)
    app.route({ method, url: `/${place}/*`, handler: answer })
  }
  await app.listen(address)
} else {
  const byPlace = new Map(answers.map((answer) => [answer.place, answer]))
  // A client may reuse a connection that was idle for a while.
  createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const [, place = ''] = (request.url ?? '').split('/', 2)
    const { status, body } = byPlace.get(place) ?? { status: 200, body: {} }
    if (status === 304) {
      response.writeHead(status).end()
      return
    }
    const text = JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }).listen(address)
}

interface Reply {
  code(status: number): { send(body: unknown): unknown }
}
