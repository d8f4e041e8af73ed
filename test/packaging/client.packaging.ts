import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startShop, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { install, pack } from './packed.ts'
import { verifySample } from './sample-receipt.ts'
import { bun, compilers, deno, nodes } from './tools.ts'

const run = promisify(execFile)
const packed = temporaryFolder({ after })
const project = join(packed, 'project')
before(() => install(pack('client', packed), project))

/** A program that sends requests to a service and verifies a receipt. `shown` holds all results. */
const body = `
const client = new LetheClient({ url: process.env.LETHE_URL, apiKey: process.env.LETHE_API_KEY })
const { counts } = await client.readSubject('shop', 'visitor-1')
const refusal = await client.readSubject('shop', 'nobody').catch((error) => error)
const isRefused = refusal instanceof ApiError && refusal.status === 404
const { record } = await ${verifySample}
const { version } = createVariables({ url: process.env.LETHE_URL, token: 'lethevar_x', refreshSeconds: 3_600 })
console.log(counts.events, isRefused, record.counts.events, typeof client.requests.create, version)`
const programs = {
  'import.mjs': `
import process from 'node:process'
import { ApiError, LetheClient, verifyReceipt } from '@lethe/client'
import { createVariables } from '@lethe/client/variables'
${body}`,
  'require.cjs': `
const { ApiError, LetheClient, verifyReceipt } = require('@lethe/client')
const { createVariables } = require('@lethe/client/variables')
async function main() {${body}
}
main()`,
}
const expected = '2 true 17 function null\n'

describe('the packed client', () => {
  before(() => {
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(project, name), text)
  })

  const runtimes = [
    ...nodes.flatMap((node) => Object.keys(programs).map((file) => ({ ...node, args: [file] }))),
    ...Object.keys(programs).map((file) => ({ ...bun, args: ['run', file] })),
    { ...deno, args: ['run', '--node-modules-dir=manual', '--allow-all', 'import.mjs'] },
  ]
  for (const { name, path, skip, args } of runtimes) {
    it(`works on ${name} in ${args.at(-1)}`, { skip }, async (t) => {
      const shop = await startShop(t, { scopes: ['analytics:view'] })
      await shop.ingest(visit('visitor-1', { events: 2 }))
      const env = { HOME: packed, LETHE_URL: shop.url, LETHE_API_KEY: shop.key }
      const { stdout } = await run(path, args, { cwd: project, env })
      assert.equal(stdout, expected)
    })
  }

  const resolutions = {
    nodenext: { module: 'nodenext', files: { 'use.mts': typed, 'use.cts': typedRequire } },
    bundler: { module: 'esnext', files: { 'use.ts': typed } },
  }
  for (const { name, path, skip } of compilers) {
    for (const [moduleResolution, { module, files }] of Object.entries(resolutions)) {
      it(`has types that hold in ${name} under ${moduleResolution}`, { skip }, async () => {
        const place = join(project, `${name}-${moduleResolution}`)
        mkdirSync(place)
        for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text())
        const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
        const base = {
          noEmit: true,
          target: 'es2022',
          lib: ['es2022', 'dom'],
          types: [],
          skipLibCheck: false,
        }
        const compilerOptions = { ...base, ...strict, module, moduleResolution }
        const config = JSON.stringify({ compilerOptions, files: Object.keys(files) })
        writeFileSync(join(place, 'tsconfig.json'), config)
        await run(process.execPath, [path, '-p', place]).catch(({ stdout }) => assert.fail(stdout))
      })
    }
  }
})

function typed(): string {
  return [
    "import { ApiError, type EraseManyOutcome, LetheClient, verifyReceipt } from '@lethe/client'",
    "const client = new LetheClient({ url: 'http://127.0.0.1', apiKey: 'x', fetch })",
    "const events: number = (await client.readSubject('a', 'b')).counts.events",
    'const outcomes: EraseManyOutcome[] = []',
    "const people = [{ identifiers: [{ name: 'email', value: 'a' }] }]",
    "for await (const each of client.requests.eraseMany(people, { reference: 'c' })) outcomes.push(each)",
    "const proven: boolean = (await verifyReceipt('', { verifierKeys: [] })).isSubjectProven",
    '// @ts-expect-error There is no such sort.',
    "client.listSubjects('a', { sort: 'name' })",
    'export { ApiError, events, proven }',
  ].join('\n')
}

function typedRequire(): string {
  return [
    "import lethe = require('@lethe/client')",
    "const client = new lethe.LetheClient({ url: 'http://127.0.0.1', apiKey: 'x', fetch })",
    "client.requests.create({ kind: 'access', person: { subjects: [{ trackerId: 'a', subjectId: 'b' }] } })",
    '// @ts-expect-error There is no such sort.',
    "client.listSubjects('a', { sort: 'name' })",
  ].join('\n')
}
