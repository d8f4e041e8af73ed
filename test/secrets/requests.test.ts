import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createKey, startRoomyServer, stopServer } from '../robustness/kill/server.ts'
import { buildShopAt } from '../robustness/kill/visits.ts'
import { dataOf, errorOf, problemFields, textIn } from '../support/answers.ts'
import { commandLine, type RunningProgram } from '../support/command-line.ts'
import { assertDocumented } from '../support/documented.ts'
import { visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { assertAbsent } from './markers.ts'

/** Identifiers that need escaping in different encodings. */
const email = 'request-marker+ünï%@example.com'
const userId = `"request'marker-id\\`
const secrets = { email, userId, subject: 'request-marker-visitor', any: 'request-marker' }
const identifiers = { email, userId }
const path = '/v1/analytics/requests'

describe('the person of a request that was closed', () => {
  const cli = commandLine({ after })
  const journal = join(cli.folder, 'lethe.journal')
  const env = { LETHE_JOURNAL: journal, LETHE_LOG_LEVEL: 'trace', LETHE_METRICS_PORT: '0' }
  const said: [where: string, text: string][] = []
  let server: RunningProgram & { url: string }
  let key: string

  async function ask(to: string, body?: object) {
    const response = await fetch(server.url + path + to, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-request-id': encodeURIComponent(`about ${email}`),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isFile = response.headers.get('content-type') === 'application/zip'
    const answer = {
      ...{ status: response.status, headers: response.headers },
      body: isFile ? bytes : JSON.parse(bytes.toString()),
    }
    assertDocumented(body === undefined ? 'GET' : 'POST', path + to, answer)
    return answer
  }

  async function create(kind: 'access' | 'erasure'): Promise<string> {
    const person = {
      identifiers: Object.entries(identifiers).map(([name, value]) => ({ name, value })),
      subjects: [{ trackerId: 'shop', subjectId: secrets.subject }],
    }
    for (const reference of [`About ${email}`, encodeURIComponent(email), secrets.subject])
      problemFields(await ask('', { kind, person, reference }))
    const id = textIn(dataOf(await ask('', { kind, person, reference: 'Ticket 7' })), 'requestId')
    problemFields(await ask(`/${id}/extend`, { reason: `${userId} has much data` }))
    dataOf(await ask(`/${id}/extend`, { reason: 'Many systems' }))
    await ask(`?state=open&limit=1&cursor=${encodeURIComponent(email)}`)
    errorOf(await ask(`/${encodeURIComponent(email)}`), 'not_found')
    return id
  }

  async function erase(id: string): Promise<void> {
    dataOf(await ask(`/${id}/erase`, {}))
    await until(async () => dataOf(await ask(`/${id}`)).state === 'done')
  }

  before(async () => {
    await buildShopAt(`sqlite:${cli.storePath}`, [
      ...visit(secrets.subject, { identifiers }),
      ...visit('request-marker-phone', { identifiers }),
    ])
    key = await createKey(cli)
    server = await startRoomyServer(cli, env)
    const access = await create('access')
    await ask(`/${access}/export`)
    dataOf(await ask(`/${access}/close`, {}))
    dataOf(await ask(`/${await create('erasure')}/cancel`, {}))
    dataOf(await ask(`/${await create('erasure')}/reject`, { reason: 'Not the person' }))
    const erasure = await create('erasure')
    await erase(erasure)
    dataOf(await ask(`/${erasure}/certificate`))
    // Nothing is held any more.
    dataOf(await ask(`/${await create('access')}/close`, {}))
    await erase(await create('erasure'))
    const [, metricsUrl = ''] = await server.waitFor('stdout', /"metricsUrl":"([^"]+)"/)
    said.push(['the metrics', await (await fetch(metricsUrl)).text()])
    await stopServer(server)
    const { stdout, stderr } = await server.ended
    said.push(['the log', stdout + stderr])
  })

  it('is in no file after a scrub, nor in the journal, the log, the metrics or the activity', async () => {
    for (const args of [['scrub'], ['activity', '--org', 'acme', '--json'], ['ledger', 'verify', '--json']]) {
      const { stdout, stderr } = await cli.run(args, { env })
      said.push([`lethe ${args[0]}`, stdout + stderr])
    }
    const files = readdirSync(cli.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    for (const file of files) assertAbsent(secrets, readFileSync(file), file)
    for (const [where, text] of said) assertAbsent(secrets, text, where)
  })
})
