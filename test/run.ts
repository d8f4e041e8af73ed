// Runs test files with Node's test runner: `npm test` runs most of them, `npm run test:system` slow tests of
// whole processes, `npm run test:browser` those with a browser. The files of a folder share a few processes
// and a bundle with the program, which is slow to load. Files given as arguments run in separate processes.
import { chmodSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../bin/launch/child.js'
import { bundleProgram } from './support/bundled-program.ts'
import { sharePostgres } from './support/fresh-database.ts'
import type { PostgresServer } from './support/postgres.ts'
import { quickFolder } from './support/quick-folder.ts'

/**
 * The files and folders of a suite, in their order: files with their own process, then folders whose files
 * share processes.
 */
interface Suite {
  alone: string[]
  shared: Record<string, number>
}

/** A file belongs to the first suite that lists it, so the last suite contains all others. */
const suites: Record<string, Suite> = {
  '--browser': { alone: [], shared: { 'test/browser': 3 } },
  // Whole processes that are killed, throttled, overloaded and fuzzed; packages, installations and guides;
  // and the console on PostgreSQL.
  '--system': {
    alone: [
      'test/robustness/fuzz/on-postgres.test.ts',
      'test/guides/one-machine.test.ts',
      'test/client/package.test.ts',
      'test/client/export-memory.test.ts',
      'test/bin/*.test.ts',
      'test/e2e/on-postgres.test.ts',
      'test/console/on-postgres.test.ts',
    ],
    shared: {
      'test/robustness': 5,
      'test/guides': 1,
      'test/{examples,packaging,supply-chain,upgrade}': 2,
      'test/{cli/copy,cli/import-process,convert/convert-memory,e2e/black-box,otlp/process}': 2,
      'test/{limiter/redis-faults,storage/postgres/contention,storage/postgres/faults,storage/postgres/hosts}': 2,
    },
  },
  '': {
    // The slowest come first. The last two change their process permanently, or inspect every statement in
    // it.
    alone: [
      'test/storage/postgres/store.test.ts',
      'test/http/on-postgres.test.ts',
      'test/storage/sqlite/query-plan.test.ts',
    ],
    shared: {
      'test/storage': 4,
      'test/{client,console}': 2,
      'test/cli': 4,
      'test/{limiter,maintenance,metrics,secrets}': 2,
      'test/http': 2,
      test: 6,
    },
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
/**
 * A test that takes longer hangs, even on a slow machine: the longest take most of a minute on a fast one.
 */
const settings = [
  '--test-global-setup=test/support/global-setup.ts',
  // More than there are processors, because tests often wait for other processes or timers.
  '--test-concurrency=6',
  '--test-timeout=600000',
  '--enable-source-maps',
]

/**
 * Generated data is the same in every run, so that results depend only on the code. The soak test uses other
 * seeds.
 */
const { LETHE_TEST_SEED = '20261117' } = process.env

/** The test files of a suite, in groups that share a process, in the order in which they start. */
function plan(wanted: string): string[][] {
  const taken = new Set<string>()
  const take = (pattern: string) => {
    const files = globSync(pattern, { cwd: root }).sort()
    return files.filter((file) => !taken.has(file) && taken.add(file))
  }
  for (const [name, { alone, shared }] of Object.entries(suites)) {
    const groups = alone.flatMap(take).map((file) => [file])
    for (const [pattern, count] of Object.entries(shared)) {
      const files = take(`${pattern}{/**/*,}.test.ts`)
      groups.push(...Array.from({ length: count }, (_, part) => files.filter((_, i) => i % count === part)))
    }
    if (name === wanted) return groups.filter((files) => files.length > 0)
  }
  throw new Error(`No suite is named ${wanted}`)
}

/** Writes a module that runs each group, and bundles them with the program. Returns the paths of both. */
function bundleGroups(folder: string, suite: string): Promise<{ program: string; tests: string[] }> {
  const inRoot = (file: string) => JSON.stringify(join(root, file))
  const entries = plan(suite).map((files, number) => {
    // The runner sorts its arguments, so the order is part of the name.
    const path = join(folder, `${String(number).padStart(3, '0')}.ts`)
    const loads = files.map((file) => `  ${JSON.stringify(file)}: () => import(${inRoot(file)}),\n`)
    const imported = `import { runTestFiles } from ${inRoot('test/support/run-test-files.ts')}\n`
    writeFileSync(path, `${imported}runTestFiles({\n${loads.join('')}})\n`)
    return path
  })
  return bundleProgram(join(folder, 'bundled'), entries)
}

const folder = quickFolder()
// PostgreSQL, which does not run as root, also stores its files there.
chmodSync(folder, 0o711)
Object.assign(process.env, { TMPDIR: folder, LETHE_TEST_SEED })
let server: PostgresServer | null = null
try {
  const tests = process.argv.slice(2)
  const [suite = ''] = tests
  if (tests.length === 0 || suite in suites) {
    // Concurrently, because starting the server is mostly I/O.
    const [bundled, shared] = await Promise.all([bundleGroups(folder, suite), sharePostgres()])
    server = shared
    process.env.LETHE_TEST_PROGRAM = bundled.program
    tests.splice(0, tests.length, ...bundled.tests)
  }
  const { code } = await run(process.execPath, ['--test', ...settings, ...tests], { cwd: root })
  process.exitCode = code ?? 1
} finally {
  await server?.remove()
  rmSync(folder, { recursive: true, force: true })
}
