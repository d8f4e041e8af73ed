// Runs test files with Node's own runner: `npm test` most of them, `npm run test:system` those of whole processes, which take longer,
// `npm run test:browser` those that drive a browser. Most of what a small file costs is to load the program, so the files of a folder
// share a few processes, one file after the other, and come bundled with it. Files that are named run each in a process of its own.
import { chmodSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../bin/launch/child.js'
import { bundleProgram } from './support/bundled-program.ts'
import { sharePostgres } from './support/fresh-database.ts'
import type { PostgresServer } from './support/postgres.ts'
import { quickFolder } from './support/quick-folder.ts'

/** What a command runs, in the order in which it begins: files in a process of their own, then folders whose files share a few. */
interface Suite {
  alone: string[]
  shared: Record<string, number>
}

/** A file is in the first suite that names it, so the last one is everything else. */
const suites: Record<string, Suite> = {
  '--browser': { alone: [], shared: { 'test/browser': 3 } },
  // Whole processes that are killed, starved, flooded and fuzzed, what is shipped, installed and followed to the letter, and the console
  // once more on PostgreSQL.
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
    // The longest come first. The last two change their process for good, or judge every statement made in it.
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
/** A test that takes longer hangs, however slow or busy the machine is: the longest take most of a minute on a fast one. */
const settings = [
  '--test-global-setup=test/support/global-setup.ts',
  // More than processors: much of what tests do is to wait, for other processes and for time.
  '--test-concurrency=6',
  '--test-timeout=600000',
  '--enable-source-maps',
]

/** A change is judged by itself and not by luck: what is generated is the same in every run. The soak plays other numbers each time. */
const { LETHE_TEST_SEED = '20261117' } = process.env

/** The test files of a suite, in groups that share a process, in the order in which they are to begin. */
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

/** Writes a module that runs each group, and bundles them with the program: tells where they are, and it. */
function bundleGroups(folder: string, suite: string): Promise<{ program: string; tests: string[] }> {
  const inRoot = (file: string) => JSON.stringify(join(root, file))
  const entries = plan(suite).map((files, number) => {
    // The runner sorts what it is given, so the order is in the name.
    const path = join(folder, `${String(number).padStart(3, '0')}.ts`)
    const loads = files.map((file) => `  ${JSON.stringify(file)}: () => import(${inRoot(file)}),\n`)
    const imported = `import { runTestFiles } from ${inRoot('test/support/run-test-files.ts')}\n`
    writeFileSync(path, `${imported}runTestFiles({\n${loads.join('')}})\n`)
    return path
  })
  return bundleProgram(join(folder, 'bundled'), entries)
}

const folder = quickFolder()
// PostgreSQL, which does not run as root, has its files in there too.
chmodSync(folder, 0o711)
Object.assign(process.env, { TMPDIR: folder, LETHE_TEST_SEED })
let server: PostgresServer | null = null
try {
  const tests = process.argv.slice(2)
  const [suite = ''] = tests
  if (tests.length === 0 || suite in suites) {
    // Side by side: the server mostly waits for its files.
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
