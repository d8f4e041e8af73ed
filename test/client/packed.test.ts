import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
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
import { npmCommand } from '../../bin/launch/child.js'
import { blocks, read } from '../docs/markdown.ts'
import { makeReceipt, noteSigner } from '../support/make-receipt.ts'
import { startShop, visit } from '../support/shop.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lethe-packed-'))
const project = join(folder, 'project')
const modules = join(project, 'node_modules')
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const examples = blocks(read('client/README.md'), 'ts')
after(() => rmSync(folder, { recursive: true, force: true }))

/** Every Node that is at hand: the one that runs the tests, and the one of the system, which may be older. */
function* nodes(): Generator<string> {
  yield process.execPath
  for (const place of (process.env.PATH ?? '').split(delimiter)) {
    const found = join(place, 'node')
    try {
      if (readFileSync(found).length > 0) return yield found
    } catch {
      // Not here.
    }
  }
}

before(async () => {
  const built = join(folder, 'client')
  await run(process.execPath, [join(root, 'scripts/build.ts'), '--only', 'client', '--out', folder])
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"name":"empty","type":"module","private":true}')
  const [npm, ...first] = npmCommand(process.env.npm_execpath, process.platform)
  await run(npm, [...first, 'pack', '--pack-destination', folder], { cwd: built })
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  // As npm would install it, which takes a second to find out that it needs nothing else.
  const installed = join(modules, '@lethe/client')
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1'])
})

describe('the packed client', () => {
  it('holds JavaScript, its types, a readme and a licence, and needs nothing else', () => {
    const installed = join(modules, '@lethe/client')
    const files = readdirSync(installed)
    const modulesInside = files.filter((name) => name.endsWith('.js'))
    assert.deepEqual(
      files.sort(),
      [
        ...modulesInside,
        ...modulesInside.map((name) => name.replace(/\.js$/, '.d.ts')),
        ...['LICENSE', 'README.md', 'cjs', 'package.json'],
      ].sort(),
    )
    // The same once more for who calls `require`.
    assert.deepEqual(
      readdirSync(join(installed, 'cjs')).sort(),
      files.filter((name) => /\.(js|d\.ts|json)$/.test(name)).sort(),
    )
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    for (const needed of ['dependencies', 'peerDependencies', 'optionalDependencies', 'scripts', 'private'])
      assert.equal(manifest[needed], undefined, needed)
  })

  const settings: [what: string, options: object][] = [
    ['with the types of a browser', { lib: ['es2022', 'dom'], types: [] }],
    ['with the types of Node', { lib: ['es2022'], types: ['node'] }],
    [
      'as a bundler resolves it',
      { lib: ['es2022', 'dom'], types: [], module: 'esnext', moduleResolution: 'bundler' },
    ],
  ]
  for (const [what, options] of settings) {
    it(`has types that hold in strict TypeScript ${what}`, async () => {
      const place = join(project, `types-${settings.findIndex(([each]) => each === what)}`)
      mkdirSync(join(place, 'node_modules/@lethe'), { recursive: true })
      cpSync(join(modules, '@lethe/client'), join(place, 'node_modules/@lethe/client'), { recursive: true })
      for (const name of ['@types', 'undici-types']) {
        symlinkSync(join(root, 'node_modules', name), join(place, 'node_modules', name))
      }
      writeFileSync(join(place, 'package.json'), '{"type":"module"}')
      writeFileSync(
        join(place, 'use.ts'),
        [
          "import { ApiError, type BatchOutcome, LetheClient } from '@lethe/client'",
          "import { fileJournal } from '@lethe/client/file-journal'",
          "const client = new LetheClient({ url: 'http://127.0.0.1', apiKey: 'x', fetch })",
          "const events: number = (await client.readSubject('a', 'b')).counts.events",
          'const outcomes: BatchOutcome[] = []',
          "for await (const each of client.eraseSubjects('a', ['b'], { journal: fileJournal('c') })) outcomes.push(each)",
          '// @ts-expect-error There is no such sort.',
          "client.listSubjects('a', { sort: 'name' })",
          'export { ApiError, events }',
        ].join('\n'),
      )
      const base = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext' }
      // The types of the package are checked, those that come with TypeScript are not.
      const checks = { skipLibCheck: false, skipDefaultLibCheck: true }
      const strictest = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
      const compilerOptions = { ...base, ...checks, ...strictest, ...options }
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
      await run(process.execPath, [compiler, '-p', place]).catch(({ stdout }) => assert.fail(stdout))
    })
  }

  for (const node of nodes()) {
    it(`does what its readme says under ${node === process.execPath ? 'this Node' : 'the Node of the system'}`, async (t) => {
      const { stdout: version } = await run(node, ['--version'])
      t.diagnostic(version.trim())
      const env = { LETHE_LIMIT_ERASURE: '500000/hour' }
      const shop = await startShop(t, {
        scopes: ['analytics:view', 'analytics:delete-data'],
        env,
      })
      const attributes = { country: 'DE', browser: 'Firefox' }
      await shop.ingest(
        ['visitor-1', 'visitor-2', 'visitor-3'].flatMap((id) => visit(id, { events: 2, attributes })),
      )
      const expected = blocks(read('client/README.md'), 'text')
      assert.equal(examples.length, expected.length)
      compiling ??= compileExamples()
      const program = await compiling
      // What an example writes under one Node is not there under the next.
      const cwd = mkdtempSync(join(project, 'run-'))
      const known = { LETHE_URL: shop.url, LETHE_API_KEY: shop.key, NO_COLOR: '1' }
      const { stdout } = await run(node, [program], { cwd, env: { ...process.env, ...known } })
      assert.equal(stdout, expected.join(''))
    })
  }
})

describe('the packed client, without a service', () => {
  for (const node of nodes()) {
    it(`verifies a receipt, imported or required, under ${node === process.execPath ? 'this Node' : 'the Node of the system'}`, async () => {
      const signer = noteSigner('lethe.local/acme', Buffer.alloc(32, 1))
      const erasure = { trackerId: 'shop', subjectId: 'anna', nonce: Buffer.alloc(32, 2) }
      const receipt = makeReceipt(0, [erasure], { origin: signer.name, signers: [signer] })
      const options = { verifierKeys: [signer.vkey], trackerId: 'shop' }
      const program = [
        "import { createRequire } from 'node:module'",
        "import { verifyReceipt } from '@lethe/client'",
        `const verify = (subjectId) => verifyReceipt(${JSON.stringify(receipt)}, { ...${JSON.stringify(options)}, subjectId })`,
        "console.log((await verify('anna')).record.counts, await verify('ben').catch(({ reason }) => reason))",
        "console.log(typeof createRequire(import.meta.url)('@lethe/client').verifyReceipt)",
      ]
      const file = join(project, 'verify.js')
      writeFileSync(file, program.join('\n'))
      const { stdout } = await run(node, [file], { env: { ...process.env, NO_COLOR: '1' } })
      assert.equal(stdout, '{ events: 17, sessions: 3 } wrong_subject\nfunction\n')
    })
  }
})

let compiling: Promise<string> | null = null

/** Compiles the examples of the readme, and hands back a program that runs one after the other. */
async function compileExamples(): Promise<string> {
  const place = mkdtempSync(join(project, 'examples-'))
  const names = examples.map((_, i) => `example-${i}`)
  for (const [i, name] of names.entries()) writeFileSync(join(place, `${name}.ts`), examples[i] ?? '')
  const options = [
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--skipLibCheck',
  ]
  const types = ['--typeRoots', join(root, 'node_modules/@types')]
  const files = names.map((name) => `${name}.ts`)
  await run(process.execPath, [compiler, ...options, ...types, ...files], { cwd: place }).catch(
    ({ stdout }) => assert.fail(stdout),
  )
  const program = join(place, 'all.js')
  writeFileSync(program, names.map((name) => `await import('./${name}.js')\n`).join(''))
  return program
}
