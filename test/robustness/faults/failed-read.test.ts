import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, describe, it, type TestContext } from 'node:test'
import { dataOf, errorOf } from '../../support/answers.ts'
import { commandLine, type RunningProgram } from '../../support/command-line.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { missing } from '../../support/missing.ts'
import { askRaw, openRawConnection, requestText } from '../../support/raw-http.ts'
import { subjectPath, visit } from '../../support/shop.ts'
import { ampleBudgets, createKey, stopServer } from '../kill/server.ts'
import { buildShop } from '../kill/visits.ts'

const noTracing =
  missing('strace') || (process.getuid?.() !== 0 && 'only root may let the system calls of others fail')

/** Makes the main thread's next read of a file fail. */
async function failNextRead(t: TestContext, pid: number, file: string): Promise<void> {
  const what = ['--trace=pread64', '--inject=pread64:error=EIO:when=1', `--trace-path=${file}`]
  const tracer = spawn('strace', [...what, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => tracer.kill())
  let said = ''
  for await (const text of tracer.stderr) {
    said += text
    if (said.includes('attached')) return
  }
  assert.fail(`strace did not attach: ${said}`)
}

describe('a service', () => {
  const lifetime = inReverse({ after })
  const cli = commandLine(lifetime)
  let server: RunningProgram & { url: string }
  before(async () => {
    await buildShop(
      cli.storePath,
      ['anna', 'ben', 'carl'].flatMap((id) => visit(id)),
    )
    const stray = 'process.on("SIGUSR2", () => { Promise.reject(new Error("a stray")) })'
    const program = cli.startProgram(['serve'], ampleBudgets, ['--import', `data:text/javascript,${stray}`])
    const [, url = ''] = await program.waitFor('stdout', /"url":"([^"]+)".*\n/)
    server = { ...program, url }
  })

  it('logs an unhandled rejection and keeps running', async () => {
    server.kill('SIGUSR2')
    await server.waitFor('stdout', /"level":50.*a stray.*a rejected promise was left unhandled/)
  })

  it('fails only the request whose read failed, not others in the same batch', {
    skip: noTracing,
  }, async (t) => {
    // Written while the service runs, so it is only in the write-ahead log.
    const key = await createKey(cli)
    await failNextRead(t, server.pid, `${cli.storePath}-wal`)
    const connection = await openRawConnection(server.url)
    const asked = [
      ['GET', 'anna'],
      ['DELETE', 'ben'],
      ['GET', 'carl'],
    ] as const
    connection.send(asked.map(([method, id]) => requestText(subjectPath(id), { method, key })).join(''))
    errorOf(await connection.answer(), 'internal_error')
    assert.equal(dataOf(await connection.answer()).alreadyErased, false)
    dataOf(await connection.answer())
    connection.hangUp()
    errorOf(await askRaw(server.url, subjectPath('ben'), { key }), 'not_found')
    dataOf(await askRaw(server.url, subjectPath('anna'), { key }))
  })

  it('survives both, and stops cleanly', () => stopServer(server))
})
