import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../src', import.meta.url))

/**
 * What the files of each part may import: other parts by folder or file name, `node:…` modules (`node:*` for
 * any), and `npm` for packages. Parts that are not listed must not exist.
 */
const allowed: Record<string, readonly string[]> = {
  domain: ['domain', 'node:buffer', 'node:crypto', 'node:stream', 'node:zlib'],
  logo: ['logo', 'domain', 'node:crypto', 'node:zlib', 'npm'],
  convert: ['convert', 'domain', 'node:buffer', 'node:crypto'],
  factors: ['factors', 'domain', 'npm'],
  operations: ['operations', 'domain', 'factors', 'logo', 'node:crypto', 'node:timers/promises'],
  maintenance: ['maintenance', 'operations', 'domain', 'node:timers/promises'],
  storage: ['storage', 'domain', 'runtime/program-files.ts', 'node:*', 'npm'],
  'journal.ts': ['domain', 'node:*'],
  limiter: ['limiter', 'domain', 'node:net', 'npm'],
  openid: ['openid', 'domain', 'npm'],
  http: ['http', 'operations', 'domain', 'runtime/program-files.ts', 'node:*', 'npm'],
  metrics: [
    'metrics',
    'maintenance',
    'operations',
    'domain',
    'node:events',
    'node:http',
    'node:perf_hooks',
    'npm',
  ],
  // Like metrics, it observes the parts that it measures from outside.
  otlp: ['otlp', 'metrics', 'maintenance', 'http', 'domain', 'node:async_hooks', 'npm'],
  cli: [
    'cli',
    'convert',
    'maintenance',
    'operations',
    'domain',
    'config.ts',
    'runtime',
    'start.ts',
    '../package.json',
    'node:*',
    'npm',
  ],
  // The parts that access the machine: files, standard output, randomness. It restores backups and journals.
  runtime: [
    'runtime',
    'config.ts',
    'domain',
    'operations',
    'maintenance',
    'limiter',
    'openid',
    'otlp',
    'storage',
    'journal.ts',
    'node:*',
    'npm',
  ],
  // It parses the addresses of the store and the limiter with functions of the modules that open them.
  'config.ts': [
    'domain',
    'storage/open-store.ts',
    'limiter/limiter-address.ts',
    'otlp/otlp-settings.ts',
    'node:net',
    'npm',
  ],
  'start.ts': [
    'config.ts',
    'domain',
    'operations',
    'maintenance',
    'storage',
    'http',
    'journal.ts',
    'limiter',
    'metrics',
    'openid',
    'otlp',
    'runtime',
    '../package.json',
  ],
  'main.ts': ['cli', 'node:*'],
}

const files = sourcesIn(root)

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => file.split(sep).join('/'))
    .sort()
}

function read(file: string, folder = root): string {
  return readFileSync(join(folder, file), 'utf8')
}

/**
 * The imports of a file: `node:…` modules and packages unchanged, our own files by their path in the folder.
 */
function importsOf(file: string, folder = root): string[] {
  const pattern = /(?:(?<!')\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*|\bthreadScript\(\s*)'([^']+)'/g
  return Array.from(read(file, folder).matchAll(pattern), ([, specifier = '']) =>
    specifier.startsWith('.')
      ? normalize(join(dirname(file), specifier))
          .split(sep)
          .join('/')
      : specifier.replace(/^src\//, ''),
  )
}

function partOf(file: string): string {
  return file.split('/')[0] ?? ''
}

function isOurs(imported: string): boolean {
  return files.includes(imported)
}

function isAllowed(part: string, imported: string): boolean {
  const rules = allowed[part] ?? []
  if (imported.startsWith('node:')) return rules.includes('node:*') || rules.includes(imported)
  if (isOurs(imported)) return rules.includes(partOf(imported)) || rules.includes(imported)
  // A folder of data next to the code, such as the migrations.
  if (imported.startsWith(`${part}/`)) return true
  return rules.includes(imported) || (rules.includes('npm') && !imported.startsWith('.'))
}

describe('the directions of imports', () => {
  it('are checked on files and imports that were found', () => {
    assert.ok(files.length > 50)
    assert.ok(importsOf('start.ts').includes('http/server.ts'))
    assert.ok(importsOf('runtime/randomness.ts').includes('node:crypto'))
    assert.ok(importsOf('runtime/log.ts').includes('pino'))
    assert.ok(importsOf('storage/sqlite/writer.ts').includes('storage/sqlite/writer-thread.ts'))
  })

  it('are defined for every part of the source, and for no other', () => {
    assert.deepEqual([...new Set(files.map(partOf))].sort(), Object.keys(allowed).sort())
  })

  for (const [part, rules] of Object.entries(allowed)) {
    it(`lead from ${part} to ${rules.join(', ')} alone`, () => {
      const wrong = files
        .filter((file) => partOf(file) === part)
        .flatMap((file) => importsOf(file).map((imported) => ({ file, imported })))
        .filter(({ imported }) => !isAllowed(part, imported))
        .map(({ file, imported }) => `${file} imports ${imported}`)
      assert.deepEqual(wrong, [])
    })
  }

  it('never include main.ts', () => {
    assert.deepEqual(
      files.filter((file) => importsOf(file).includes('main.ts')),
      [],
    )
  })

  it('meet only in start.ts: nothing else imports HTTP, the limiters or the metrics; stores are opened there and by a restore', () => {
    const knows = (part: string) =>
      files.filter((file) => partOf(file) !== part && importsOf(file).some((other) => partOf(other) === part))
    // Tracing observes the pipeline.
    const tracing = ['otlp/open-otlp.ts', 'otlp/spans.ts']
    assert.deepEqual(knows('http'), [...tracing, 'start.ts'])
    assert.deepEqual(knows('limiter'), ['config.ts', 'runtime/service-log.ts', 'start.ts'])
    assert.deepEqual(knows('metrics'), ['otlp/open-otlp.ts', 'start.ts'])
    assert.deepEqual(knows('storage'), ['config.ts', 'runtime/restore.ts', 'start.ts'])
  })
})

describe('imports', () => {
  for (const name of ['src', 'client/src', 'console/src']) {
    it(`go round in no circle in ${name}, those of types included`, () => {
      const folder = fileURLToPath(new URL(`../../${name}`, import.meta.url))
      const left = new Map(sourcesIn(folder).map((file) => [file, importsOf(file, folder)]))
      assert.ok(left.size > 10)
      // A file without imports, or that no remaining file imports, is not part of a cycle.
      for (let before = Number.NaN; before !== left.size; ) {
        before = left.size
        for (const [file, imported] of left) {
          if (!imported.some((other) => left.has(other))) left.delete(file)
        }
        const needed = new Set([...left.values()].flat())
        for (const file of left.keys()) if (!needed.has(file)) left.delete(file)
      }
      assert.deepEqual([...left.keys()], [])
    })
  }
})

describe('the commands that ask a service', () => {
  const remote = files.filter((file) => file.startsWith('cli/remote/'))

  it('use only the client, and import no store and no operation', () => {
    assert.ok(remote.length >= 5)
    for (const file of remote) {
      const wrong = importsOf(file).filter((other) => other.startsWith('operations/') || other === 'start.ts')
      assert.deepEqual(wrong, [], file)
      assert.doesNotMatch(read(file), /withStore/, file)
    }
  })
})

describe('the client', () => {
  const sources = fileURLToPath(new URL('../../client/src', import.meta.url))
  const modules = readdirSync(sources).sort()
  const importsOfModule = (file: string) =>
    Array.from(
      readFileSync(join(sources, file), 'utf8').matchAll(/(?:(?<!')\bfrom\s*|\bimport\s*\(?\s*)'([^']+)'/g),
      ([, specifier = '']) => specifier,
    )
  const own = modules.map((file) => `./${file}`)

  const foreignImports: Record<string, string[]> = {
    'openfeature-provider.ts': ['@openfeature/core'],
    'openfeature-server.ts': ['@openfeature/server-sdk'],
    'openfeature-web.ts': ['@openfeature/web-sdk'],
  }

  it('imports only its own files, so that it runs wherever `fetch` exists', () => {
    assert.ok(modules.length > 10)
    for (const file of modules) {
      assert.deepEqual(
        importsOfModule(file).filter((other) => !own.includes(other)),
        foreignImports[file] ?? [],
        file,
      )
    }
  })

  it('uses Node and OpenFeature only in a few files, which its other files do not import', () => {
    const special = Object.keys(foreignImports)
    const importers = modules.filter((file) =>
      importsOfModule(file).some((other) => special.includes(other.replace('./', ''))),
    )
    assert.deepEqual(importers, ['openfeature-server.ts', 'openfeature-web.ts'])
  })

  it('has no dependencies', () => {
    const manifest = JSON.parse(readFileSync(join(sources, '../package.json'), 'utf8'))
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'devDependencies']) {
      assert.equal(manifest[kind], undefined, kind)
    }
  })

  it('reads time and randomness in one place', () => {
    const takes = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b/
    const takers = modules.filter((file) => takes.test(readFileSync(join(sources, file), 'utf8')))
    assert.deepEqual(takers, ['runtime.ts'])
  })
})

describe('the environment', () => {
  it('is read only by the configuration, and where commands get their process', () => {
    const readers = files.filter((file) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(read(file)))
    for (const file of readers) assert.ok(['config.ts', 'cli/terminal.ts'].includes(file), file)
    assert.ok(readers.length > 0)
  })
})

describe('time and randomness', () => {
  it('are injected: only the composition root reads them', () => {
    const inner = files.filter((file) =>
      ['domain', 'convert', 'operations', 'storage', 'limiter', 'metrics', 'http', 'console'].includes(
        partOf(file),
      ),
    )
    const takes = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(Bytes|Int|UUID)\b/
    assert.deepEqual(
      inner.filter((file) => takes.test(read(file))),
      [],
    )
  })
})
