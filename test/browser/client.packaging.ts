import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { it } from 'node:test'
import { install, pack } from '../packaging/packed.ts'
import { verifySample } from '../packaging/sample-receipt.ts'
import type { Lifetime } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { noBrowser, openBrowser } from './browser.ts'

// The other calls are for servers, because the API sends no CORS headers.
it('the packed client verifies a receipt in a browser', { skip: noBrowser }, async (t) => {
  const folder = temporaryFolder(t)
  const project = join(folder, 'project')
  install(pack('client', folder), project)
  const url = await serveFolder(t, join(project, 'node_modules/@lethe/client'))
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${url}/page.html`)
  const { record } = await page.evaluate<{ record: { counts: object } }>(
    `import('/index.js').then(({ verifyReceipt }) => ${verifySample})`,
  )
  assert.deepEqual(record.counts, { events: 17, sessions: 3 })
  assert.deepEqual(complaints, [])
})

/** Serves the files of a folder, and an empty page. */
async function serveFolder(t: Lifetime, folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    const isScript = extname(name) === '.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? readFileSync(join(folder, name)) : '<!doctype html>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}
