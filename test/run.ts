// What `npm test` runs: every test file, by Node's own runner. Most of what a small file costs is to load the program, so the files of
// some folders share a few processes, one file after the other. With arguments it runs those files, each in a process of its own.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { run } from '../bin/launch/child.js'

/** Folders whose files share so many processes. */
const shared: Record<string, number> = {
  'test/{architecture,benchmarks,deploy,docs,domain,openapi,operations,supply-chain}': 2,
  'test/cli': 4,
  'test/{client,console}': 2,
  'test/http': 4,
  'test/{limiter,maintenance,metrics}': 2,
  'test/storage': 4,
}

/** Files that change their process for good, or measure it; and the longest, so that nobody waits for what comes after them. */
const alone = [
  'test/**/on-postgres.test.ts',
  'test/cli/{copy,import}-process.test.ts',
  'test/cli/{import,quickstart,serve,serve-maintenance,subjects-batch,young-generation}.test.ts',
  'test/client/{export-memory,packed}.test.ts',
  'test/http/retention.test.ts',
  'test/limiter/{memory-limiter,redis-faults}.test.ts',
]

const root = fileURLToPath(new URL('..', import.meta.url))
const settings = [
  'test-global-setup=test/support/global-setup.ts',
  'test-concurrency=4',
  'test-timeout=60000',
]

const find = (patterns: string | string[]) => globSync(patterns, { cwd: root }).sort()

/** Every test file, or what loads several of them. Those that run alone come first, for they take the longest. */
function entries(folder: string): string[] {
  const ownProcess = new Set(find(alone))
  const groups = Object.entries(shared).flatMap(([place, count]) => {
    const files = find(`${place}/**/*.test.ts`).filter((file) => !ownProcess.has(file))
    return Array.from({ length: count }, (_, part) => files.filter((_, number) => number % count === part))
  })
  const grouped = new Set(groups.flat())
  const others = find('test/**/*.test.ts').filter((file) => !grouped.has(file))
  return [...others, ...groups.map((files, number) => writeGroup(join(folder, `${number}.mjs`), files))]
}

function writeGroup(path: string, files: readonly string[]): string {
  const { href } = pathToFileURL(join(import.meta.dirname, 'support', 'together.ts'))
  writeFileSync(path, `import { together } from '${href}'\ntogether(${JSON.stringify(files)})\n`)
  return path
}

const folder = mkdtempSync(join(tmpdir(), 'lethe-test-groups-'))
try {
  const named = process.argv.slice(2)
  const files = named.length > 0 ? named : entries(folder)
  const options = settings.map((setting) => `--${setting}`)
  const { code } = await run(process.execPath, ['--test', ...options, ...files], { cwd: root })
  process.exitCode = code ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
