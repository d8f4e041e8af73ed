// What `npm test` runs: every test file, by Node's own runner, except those that drive a browser, which `npm run test:browser` runs.
// Most of what a small file costs is to load the program, so the files of a folder share a few processes, one file after the other,
// and come bundled with it. With arguments it runs those files, each in a process of its own.
import { chmodSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../bin/launch/child.js'
import { bundleProgram } from './support/bundled-program.ts'
import { sharePostgres } from './support/fresh-database.ts'
import type { PostgresServer } from './support/postgres.ts'
import { quickFolder } from './support/quick-folder.ts'

/** Files in a process of their own: the longest, which come first so that nobody waits for them in the end. */
const longest = [
  'test/storage/postgres/store.test.ts',
  'test/robustness/fuzz/on-postgres.test.ts',
  'test/http/on-postgres.test.ts',
  'test/guides/one-machine.test.ts',
  'test/client/package.test.ts',
]

/** The same for those that change their process for good, measure it, or judge every statement made in it. */
const alone = [
  'test/bin/*.test.ts',
  'test/client/export-memory.test.ts',
  'test/e2e/on-postgres.test.ts',
  'test/storage/sqlite/query-plan.test.ts',
]

/** Everything else, by folder, in so many processes; what takes long begins first. */
const shared: Record<string, number> = {
  'test/robustness': 4,
  'test/storage': 4,
  'test/{client,console}': 2,
  'test/{examples,guides,secrets}': 2,
  'test/{cli,e2e}': 4,
  'test/{limiter,maintenance,metrics}': 2,
  'test/http': 2,
  test: 6,
}

/** With `--browser`: these instead. They take as much processor time as a third of all others. */
const inBrowser: Record<string, number> = { 'test/browser': 3 }

const root = fileURLToPath(new URL('..', import.meta.url))
/** A test that takes longer hangs, however busy the machine is. */
const settings = [
  '--test-global-setup=test/support/global-setup.ts',
  // More than processors: much of what tests do is to wait, for other processes and for time.
  '--test-concurrency=6',
  '--test-timeout=120000',
  '--enable-source-maps',
]

/** A change is judged by itself and not by luck: what is generated is the same in every run. The soak plays other numbers each time. */
const { LETHE_TEST_SEED = '20261117' } = process.env

/** Every test file once, in groups that share a process, in the order in which they are to begin. */
function plan(): string[][] {
  const taken = new Set<string>()
  const take = (pattern: string) => {
    const files = globSync(pattern, { cwd: root }).sort()
    return files.filter((file) => !taken.has(file) && taken.add(file))
  }
  const share = (folders: Record<string, number>) =>
    Object.entries(folders).flatMap(([folder, count]) => {
      const files = take(`${folder}/**/*.test.ts`)
      return Array.from({ length: count }, (_, part) => files.filter((_, i) => i % count === part))
    })
  const browser = share(inBrowser)
  if (process.argv[2] === '--browser') return browser
  return [...[...longest, ...alone].flatMap(take).map((file) => [file]), ...share(shared)]
}

/** Writes a module that runs each group, and bundles them with the program: tells where they are, and it. */
function bundleGroups(folder: string): Promise<{ program: string; tests: string[] }> {
  const inRoot = (file: string) => JSON.stringify(join(root, file))
  const entries = plan().map((files, number) => {
    // The runner sorts what it is given, so the order is in the name.
    const path = join(folder, `${String(number).padStart(3, '0')}.ts`)
    const loads = files.map((file) => `  ${JSON.stringify(file)}: () => import(${inRoot(file)}),\n`)
    const together = `import { together } from ${inRoot('test/support/together.ts')}\n`
    writeFileSync(path, `${together}together({\n${loads.join('')}})\n`)
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
  const tests = process.argv.slice(2).filter((argument) => argument !== '--browser')
  if (tests.length === 0) {
    // Side by side: the server mostly waits for its files.
    const [bundled, shared] = await Promise.all([bundleGroups(folder), sharePostgres()])
    server = shared
    process.env.LETHE_TEST_PROGRAM = bundled.program
    tests.push(...bundled.tests)
  }
  const { code } = await run(process.execPath, ['--test', ...settings, ...tests], { cwd: root })
  process.exitCode = code ?? 1
} finally {
  await server?.remove()
  rmSync(folder, { recursive: true, force: true })
}
