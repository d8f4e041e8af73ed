import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeClient } from '../../scripts/packaging/make-client.ts'
import { blocks, read } from '../docs/markdown.ts'
import { makeReceipt, noteSigner } from '../support/make-receipt.ts'
import { visit } from '../support/shop.ts'
import { startVariableShop } from '../support/variable-shop.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'lethe-client-'))
const installed = join(project, 'node_modules/@lethe/client')
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const examples = blocks(read('client/README.md'), 'ts')
after(() => rmSync(project, { recursive: true, force: true }))

/** Every available Node: the one that runs the tests, and the one of the system, which may be older. */
function* nodes(): Generator<string> {
  yield process.execPath
  for (const place of (process.env.PATH ?? '').split(delimiter)) {
    const found = join(place, 'node')
    if (existsSync(found)) return yield found
  }
}

before(async () => {
  writeFileSync(join(project, 'package.json'), '{"name":"empty","type":"module","private":true}')
  for (const name of ['@openfeature', '@types', 'undici-types']) {
    mkdirSync(join(project, 'node_modules'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))
  }
  // test/packaging/client.packaging.ts packs and installs it with npm.
  await makeClient(installed)
})

describe('the package of the client', () => {
  it('contains JavaScript, types, a readme and a licence, and has no dependencies', () => {
    const files = readdirSync(installed)
    const modulesInside = files.filter((name) => name.endsWith('.js'))
    assert.deepEqual(
      files.sort(),
      [
        ...modulesInside,
        ...modulesInside.map((name) => name.replace(/\.js$/, '.d.ts')),
        ...['LICENSE', 'README.md', 'browser', 'cjs', 'package.json'],
      ].sort(),
    )
    // The same files for `require`.
    assert.deepEqual(
      readdirSync(join(installed, 'cjs')).sort(),
      files.filter((name) => /\.(js|d\.ts|json)$/.test(name)).sort(),
    )
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const needed = ['dependencies', 'optionalDependencies', 'scripts', 'private']
    for (const name of [...needed, 'files']) assert.equal(manifest[name], undefined, name)
    const peers = ['core', 'server-sdk', 'web-sdk'].map((name) => `@openfeature/${name}`)
    assert.deepEqual(Object.keys(manifest.peerDependencies), peers)
    for (const name of peers) assert.deepEqual(manifest.peerDependenciesMeta[name], { optional: true })
  })

  it('has a small script with the variables for pages, without imports', () => {
    assert.deepEqual(readdirSync(join(installed, 'browser')), ['variables.js'])
    const text = readFileSync(join(installed, 'browser/variables.js'), 'utf8')
    assert.ok(text.length < 15_000, String(text.length))
    assert.doesNotMatch(text, /\bimport\b/)
  })

  it('cannot be packed from its sources', async () => {
    const args = ['pack', '--pack-destination', project]
    const options = { cwd: join(root, 'client'), shell: process.platform === 'win32' }
    await assert.rejects(run('npm', args, options), /must have name and version/)
    assert.ok(!readdirSync(project).some((file) => file.endsWith('.tgz')))
  })

  it('type-checks in strict TypeScript with the types of a browser, as resolved by a bundler', async () => {
    const asBundlersDo = { module: 'esnext', moduleResolution: 'bundler' }
    await compile({ 'use.ts': use }, { lib: ['es2022', 'dom'], types: [], ...asBundlersDo, noEmit: true })
  })

  it('type-checks with the types of Node, as resolved by Node, including the examples of its readme', async () => {
    await compileExamples()
  })

  for (const node of nodes()) {
    it(`runs the examples of its readme with ${node === process.execPath ? 'this Node' : 'the Node of the system'}`, async (t) => {
      const env = { LETHE_LIMIT_ERASURE: '500000/hour' }
      const variables = { 'checkout.express': true, 'cart.limit': 50 }
      const shop = await startVariableShop(t, variables, env)
      const attributes = { country: 'DE', browser: 'Firefox' }
      await shop.ingest(
        ['visitor-1', 'visitor-2', 'visitor-3'].flatMap((id) => visit(id, { events: 2, attributes })),
      )
      const expected = blocks(read('client/README.md'), 'text')
      assert.equal(examples.length, expected.length)
      const program = await compileExamples()
      // A new folder, so that one run cannot use the files of another.
      const cwd = mkdtempSync(join(project, 'run-'))
      const secrets = { LETHE_API_KEY: shop.key, LETHE_VARIABLE_TOKEN: shop.token }
      const known = { LETHE_URL: shop.url, ...secrets, NO_COLOR: '1' }
      const { stdout } = await run(node, [program], { cwd, env: { ...process.env, ...known } })
      assert.equal(stdout, expected.join(''))
    })
  }
})

describe('the package of the client, without a service', () => {
  for (const node of nodes()) {
    it(`verifies a receipt, and can be required, with ${node === process.execPath ? 'this Node' : 'the Node of the system'}`, async (t) => {
      const signer = noteSigner('lethe.local/acme', Buffer.alloc(32, 1))
      const erasure = { trackerId: 'shop', subjectId: 'anna', nonce: Buffer.alloc(32, 2) }
      const receipt = makeReceipt(0, [erasure], { origin: signer.name, signers: [signer] })
      const options = { verifierKeys: [signer.vkey], trackerId: 'shop' }
      const program = [
        "import { createRequire } from 'node:module'",
        "import { verifyReceipt } from '@lethe/client'",
        `const verify = (subjectId) => verifyReceipt(${JSON.stringify(receipt)}, { ...${JSON.stringify(options)}, subjectId })`,
        "console.log((await verify('anna')).record.counts, await verify('ben').catch(({ reason }) => reason))",
        'const require = createRequire(import.meta.url)',
        "console.log(typeof require('@lethe/client').verifyReceipt)",
        "console.log(typeof require('@lethe/client/variables').createVariables)",
        "console.log(typeof require('@lethe/client/openfeature-server').LetheProvider)",
        "console.log(typeof require('@lethe/client/openfeature-web').LetheWebProvider)",
        'console.log(process.version)',
      ]
      const file = join(project, 'verify.js')
      writeFileSync(file, program.join('\n'))
      const { stdout } = await run(node, [file], { env: { ...process.env, NO_COLOR: '1' } })
      const [version, ...rest] = stdout.trimEnd().split('\n').toReversed()
      t.diagnostic(String(version))
      const required = Array.from({ length: 4 }, () => 'function')
      assert.deepEqual(rest, [...required, '{ events: 17, sessions: 3 } wrong_subject'])
    })
  }
})

const use = [
  "import { ApiError, type EraseManyOutcome, LetheClient } from '@lethe/client'",
  "import { LetheWebProvider } from '@lethe/client/openfeature-web'",
  "import { createVariables } from '@lethe/client/variables'",
  "import { OpenFeature } from '@openfeature/web-sdk'",
  "const client = new LetheClient({ url: 'http://127.0.0.1', apiKey: 'x', fetch })",
  "const events: number = (await client.readSubject('a', 'b')).counts.events",
  'const outcomes: EraseManyOutcome[] = []',
  "const people = [{ identifiers: [{ name: 'email', value: 'a' }] }]",
  "for await (const each of client.requests.eraseMany(people, { reference: 'c' })) outcomes.push(each)",
  '// @ts-expect-error There is no such sort.',
  "client.listSubjects('a', { sort: 'name' })",
  "const variables = createVariables({ url: 'http://127.0.0.1', token: 'lethevar_x' })",
  "const colors: string[] = variables.object<string[]>('colors', [])",
  '// @ts-expect-error A fallback has the type of the value.',
  "variables.boolean('beta', 'no')",
  "OpenFeature.setProvider(new LetheWebProvider({ url: 'http://127.0.0.1', token: 'lethevar_x' }))",
  'export { ApiError, colors, events }',
].join('\n')

/** Compiles files strictly as part of the project, and returns their folder. */
async function compile(files: Record<string, string>, options: object): Promise<string> {
  const place = mkdtempSync(join(project, 'compiled-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
  const base = { strict: true, target: 'es2022', module: 'nodenext' }
  // Checks the types of the package, but not those that come with TypeScript.
  const checks = { skipLibCheck: false, skipDefaultLibCheck: true }
  const strictest = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
  const compilerOptions = { ...base, ...checks, ...strictest, ...options }
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }))
  const { stdout } = await run(process.execPath, [compiler, '-p', place]).catch((error) => error)
  // OpenFeature’s own types are not compatible with every version of the types of Node.
  const problems = String(stdout)
    .split(/\n(?=\S)/)
    .filter((problem) => problem.trim() !== '' && !/^\S*node_modules\/@openfeature\//.test(problem))
  assert.deepEqual(problems, [])
  return place
}

let compiling: Promise<string> | null = null

/** Compiles the examples of the readme once, and returns a program that runs them in order. */
async function compileExamples(): Promise<string> {
  const names = examples.map((_, i) => `example-${i}`)
  const files = Object.fromEntries(names.map((name, i) => [`${name}.ts`, examples[i] ?? '']))
  compiling ??= compile({ ...files, 'use.ts': use }, { lib: ['es2022'], types: ['node'] })
  const program = join(await compiling, 'all.js')
  writeFileSync(program, names.map((name) => `await import('./${name}.js')\n`).join(''))
  return program
}
