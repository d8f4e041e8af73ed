import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { dataOf, listIn } from './answers.ts'
import { type CommandLine, commandLine, jsonLines, type Outcome } from './command-line.ts'
import { withShop, write } from './import-shop.ts'
import { type Lifetime, startTestService } from './service.ts'

export function convertFixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/convert/${name}`, import.meta.url))
}

export function convertFixtureText(name: string): string {
  return readFileSync(convertFixture(name), 'utf8')
}

/** A command line for conversions, which need no store. */
export function converter(t: Lifetime) {
  const cli = commandLine(t)
  return {
    cli,
    /** Converts files, given by their paths. */
    convert: (format: string, ...args: readonly string[]) => cli.run(['convert', format, ...args]),
    file: (name: string, content: string | Uint8Array) => write(cli, name, content),
  }
}

/** The lines of a conversion. Fails if a record was not used. */
export function linesOf(outcome: Outcome): Record<string, unknown>[] {
  assert.equal(outcome.code, 0, outcome.stderr)
  return jsonLines(outcome.stdout)
}

/** The summary of a conversion with `--json`: the last line on standard error. */
export function convertSummary(outcome: Outcome): Record<string, unknown> {
  const summary = jsonLines(`${outcome.stderr.trimEnd().split('\n').at(-1)}\n`)[0]
  assert.ok(summary)
  return summary
}

/** A service that holds the result of a conversion. */
interface ConvertedShop {
  cli: CommandLine
  /** The converted lines. */
  lines: Record<string, unknown>[]
  subjectIds: string[]
  /** The full export of a subject, oldest sessions and events first. */
  subject(subjectId: string): Promise<Record<string, unknown>>
}

/** Fixtures have fixed dates and must not age out. */
const forever = { LETHE_RETENTION_DAYS: 'free=36500' }

/**
 * Converts fixtures, imports the lines twice and reads them over the API. Fails if a record is not used, or
 * if the second import adds anything.
 */
export async function convertToApi(
  t: Lifetime,
  format: string,
  args: readonly string[],
): Promise<ConvertedShop> {
  const cli = await withShop(t)
  const converted = await cli.run(['convert', format, ...args])
  const lines = linesOf(converted)
  const again = await cli.run(['convert', format, ...args])
  assert.equal(again.stdout, converted.stdout, 'a conversion depends on more than its input')
  const file = write(cli, 'converted.ndjson', converted.stdout)
  const importing = ['import', file, '--tracker', 'shop', '--json']
  const first = await cli.run(importing, { env: forever })
  assert.deepEqual([first.code, first.stderr], [0, ''])
  assert.partialDeepStrictEqual(JSON.parse(first.stdout), { lines: lines.length, rows: lines.length })
  const second = await cli.run(importing, { env: forever })
  assert.partialDeepStrictEqual(JSON.parse(second.stdout), {
    badLines: 0,
    subjects: 0,
    sessions: 0,
    events: 0,
  })
  const service = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}`, ...forever })
  const { keyString: key } = await service.createKey('acme')
  const tracker = '/v1/analytics/trackers/shop/subjects'
  const list = dataOf(await service.ask(`${tracker}?limit=200`, { key }))
  return {
    cli,
    lines,
    subjectIds: listIn(list, 'subjects').map((each) => String(Object(each).subjectId)),
    subject: async (subjectId) =>
      dataOf(await service.ask(`${tracker}/${encodeURIComponent(subjectId)}/export`, { key })),
  }
}
