import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isPart, parts } from './parts/index.ts'
import { root } from './processes/root.ts'
import { type PartName, type Sizes, sizes } from './sizes.ts'
import { UsageError } from './usage-error.ts'

export const usage = `Usage: npm run bench -- [options]

Measures Lethe and writes docs/benchmarks.md and docs/benchmarks/results.json. Without options, all parts in about an hour and a half.

  --only <parts>    only these parts: ${Object.keys(parts).join(', ')}
  --size <size>     ${Object.keys(sizes).join(', ')}; only full and huge write the page unless --out is given
  --set <size>      one size, such as import.lines=5000000 or growth.events=10000,100000; repeatable
  --hour            run the mixed part for an hour
  --load <program>  wrk or autocannon; wrk by default if it is on the PATH
  --out <folder>    where the page and its results are written, instead of docs
  --page            measure nothing; write the page from the existing results
  --json            print the results as JSON instead of the table
`

export interface Options {
  parts: PartName[]
  sizes: Sizes
  /** The path of the page; `null` if it is not written. */
  out: string | null
  load: string | undefined
  json: boolean
  help: boolean
}

/** The sizes whose results are the page. */
const published = new Set(['full', 'huge'])

/** Reads the options; throws a one-line error if they are invalid. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      size: { type: 'string', default: 'full' },
      set: { type: 'string', multiple: true, default: [] },
      hour: { type: 'boolean', default: false },
      load: { type: 'string' },
      out: { type: 'string' },
      page: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const chosen = sizes[values.size]
  if (!chosen) throw new UsageError(`There is no size ${values.size}: ${Object.keys(sizes).join(', ')}.`)
  const changes = values.hour ? [...values.set, 'mixed.seconds=3600'] : values.set
  return {
    parts: values.page ? [] : readParts(values.only),
    sizes: changes.reduce(withChange, chosen),
    out: values.out ?? (published.has(values.size) ? join(root, 'docs') : null),
    load: values.load,
    json: values.json,
    help: values.help,
  }
}

function readParts(only: string | undefined): PartName[] {
  const names = only === undefined ? Object.keys(parts) : only.split(',')
  return names.map((name) => {
    if (isPart(name)) return name
    throw new UsageError(`There is no part ${name}: ${Object.keys(parts).join(', ')}.`)
  })
}

/** The sizes with one change, written `part.name=value`. */
function withChange(sizes: Sizes, change: string): Sizes {
  const [, part = '', name = '', text = ''] = /^(\w+)\.(\w+)=(.+)$/.exec(change) ?? []
  const size: Record<string, unknown> = isPart(part) ? { ...sizes[part] } : {}
  const before = size[name]
  if (before === undefined)
    throw new UsageError(`${change} is no size; one is written like import.lines=5000000.`)
  const asBefore = (each: string, model: unknown) => (typeof model === 'number' ? Number(each) : each)
  const values = text.split(',').map((each) => asBefore(each, Array.isArray(before) ? before[0] : before))
  if (values.some(Number.isNaN)) throw new UsageError(`${change} is no size: it takes numbers.`)
  size[name] = Array.isArray(before) ? values : values[0]
  return { ...sizes, [part]: size }
}
