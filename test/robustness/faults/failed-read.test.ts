import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, it, type TestContext } from 'node:test'
import { dataOf, errorOf } from '../../support/answers.ts'
import { commandLine } from '../../support/command-line.ts'
import { missing } from '../../support/missing.ts'
import { askRaw, openRawConnection, requestText } from '../../support/raw-http.ts'
import { subjectPath, visit } from '../../support/shop.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShop } from '../kill/shop-store.ts'

const noTracing =
  missing('strace') || (process.getuid?.() !== 0 && 'only root may let the system calls of others fail')

/** Lets the main thread's next read of a file fail. */
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

describe('a read that fails', () => {
  it('costs the request that needed it, and none that came with it', { skip: noTracing }, async (t) => {
    const cli = commandLine(t)
    await buildShop(
      cli.storePath,
      ['anna', 'ben', 'carl'].flatMap((id) => visit(id)),
    )
    const server = await startRoomyServer(cli)
    // Written while the service runs, it stands in the write-ahead log alone.
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
    await stopServer(server)
  })
})

describe('a promise that nobody waits for', () => {
  it('does not end the service when it is rejected, and is logged', async (t) => {
    const cli = commandLine(t)
    const stray = 'process.on("SIGUSR2", () => { Promise.reject(new Error("a stray")) })'
    const server = cli.startProgram(['serve'], {}, ['--import', `data:text/javascript,${stray}`])
    await server.waitFor('stdout', /"msg":"listening"/)
    server.kill('SIGUSR2')
    await server.waitFor('stdout', /"level":50.*a stray.*a rejected promise was left unhandled/)
    await stopServer(server)
  })
})
