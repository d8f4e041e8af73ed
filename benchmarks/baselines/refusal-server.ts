// The baseline of a 401: Node's own server doing only what a refusal requires: the request ID, the count of
// the address behind the proxy, the response and a log line, with Lethe's own code. It has no routes, keys or
// connection limits. V8 has the settings of Lethe's service.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { expectShortLived } from '../../src/cli/until-stopped.ts'
import { readConfig } from '../../src/config.ts'
import { LetheError } from '../../src/domain/errors.ts'
import { andThen } from '../../src/domain/maybe-promise.ts'
import { subjectPath } from '../../src/http/api/subjects.ts'
import { clientAddress } from '../../src/http/client-address.ts'
import { chosenRequestId, RequestContext } from '../../src/http/request-context.ts'
import { requestLog } from '../../src/http/request-log.ts'
import { failure } from '../../src/http/response.ts'
import { openLimiter } from '../../src/limiter/open-limiter.ts'
import { createLog } from '../../src/runtime/log.ts'

const config = readConfig(process.env)
const limiter = await openLimiter(config.limiter, Date.now, { onLost() {}, onFound() {} })
const addressOf = clientAddress(config.trustedProxies)
const logRequest = requestLog(await createLog(config, { json: true }), Date.now)
const budget = { name: 'ip', limit: 999_999_999, windowMs: 60_000 } as const
const noKey = new LetheError('unauthorized', 'No API key was sent.'.padEnd(76, '.'))
const match = { kind: 'nothing', pipeline: 'key', path: subjectPath, params: {} } as const

const server = createServer((request, response) => {
  if (request.url === '/healthz') return response.end()
  const chosen = chosenRequestId(request)
  const id = chosen === null || chosen === 'unusable' ? randomUUID() : chosen.id
  const context = new RequestContext(id, chosen, request, response, match)
  response.on('close', () => logRequest(context))
  return andThen(limiter.take(budget, addressOf(request)), (state) => {
    const counted = [{ budget, state }]
    const facts = { requestId: id, now: Date.now(), budget: state, counted, hasCredential: false }
    const { status, headers, body } = failure(noKey, facts)
    const text = JSON.stringify(body)
    headers.push('Content-Length', text.length)
    response.writeHead(status, headers)
    response.end(text, 'latin1')
  })
})
expectShortLived()
server.listen({ host: '127.0.0.1', port: Number(process.env.LETHE_PORT) })
