import assert from 'node:assert/strict'
import fc from 'fast-check'
import { allScopes, type Scope } from '../../../../src/domain/api-key.ts'
import { type Plan, plans } from '../../../../src/domain/retention.ts'
import { type SubjectSort, subjectSorts } from '../../../../src/domain/subject.ts'

/** A row to import; `ago` is its age in ticks. */
export interface RowStep {
  kind: 'session' | 'event'
  subject: number
  session: number
  ago: number
  lasted: number
  number: number
  hasId: boolean
}

/** Which key is used, with its current string or the previous one. */
export interface Caller {
  key: number
  isStale: boolean
}

/** One step. Numbers select among the existing objects, so every sequence is valid. */
export type Step =
  | { do: 'import'; tracker: number; rows: RowStep[] }
  | ({
      do: 'list'
      tracker: number
      sort: SubjectSort | null
      limit: number
      prefix: string | null
      after: number | null
      before: number | null
    } & Caller)
  | ({ do: 'read' | 'sessions' | 'erase'; tracker: number; subject: number; limit: number } & Caller)
  | ({ do: 'events'; tracker: number; subject: number; session: number | null; limit: number } & Caller)
  | { do: 'wait'; ticks: number }
  | { do: 'sweep' }
  | { do: 'create key'; organisation: number; scopes: Scope[]; lives: number | null }
  | { do: 'rotate' | 'revoke' | 'expire'; key: number }
  | { do: 'change plan'; organisation: number; plan: Plan }
  | { do: 'totals'; tracker: number }

export const subjectIds = ['anna', 'ann', 'anna/b', '🦦', 'z \u{10ffff}', '%2e']
/** A quarter of a day, so that many rows are exactly at the start of a window. */
export const tickMs = 6 * 3_600_000

const small = fc.nat(9)
const caller = { key: fc.nat(30), isStale: fc.nat(7).map((n) => n === 0) }
const limit = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 4 }), weight: 3 },
  { arbitrary: fc.constant(200), weight: 1 },
)
/** Ages from now to before the shortest window, often near its start, and sometimes before the longest. */
const ago = fc.oneof(
  { arbitrary: fc.nat(900), weight: 6 },
  { arbitrary: fc.integer({ min: 717, max: 723 }), weight: 3 },
  { arbitrary: fc.nat(8_000), weight: 1 },
)

const row = fc.record<RowStep>({
  kind: fc.constantFrom('session', 'event', 'event'),
  subject: small,
  session: fc.nat(3),
  ago,
  lasted: fc.nat(40),
  number: fc.nat(2),
  hasId: fc.boolean(),
})

const imports = fc.record({
  do: fc.constant('import' as const),
  tracker: small,
  rows: fc.array(row, { minLength: 1, maxLength: 8 }),
})
const list = fc.record({
  do: fc.constant('list' as const),
  tracker: small,
  sort: fc.option(fc.constantFrom(...subjectSorts)),
  limit,
  prefix: fc.option(fc.constantFrom('a', 'ann', 'anna/', '🦦', 'x'), { freq: 3 }),
  after: fc.option(fc.nat(800), { freq: 3 }),
  before: fc.option(fc.nat(800), { freq: 3 }),
  ...caller,
})
const single = fc.record({
  do: fc.constantFrom('read' as const, 'sessions' as const, 'erase' as const),
  tracker: small,
  subject: small,
  limit,
  ...caller,
})
const events = fc.record({
  do: fc.constant('events' as const),
  tracker: small,
  subject: small,
  session: fc.option(fc.nat(3)),
  limit,
  ...caller,
})
const wait = fc.record({ do: fc.constant('wait' as const), ticks: fc.oneof(fc.nat(5), fc.nat(300)) })
const createKey = fc.record({
  do: fc.constant('create key' as const),
  organisation: small,
  scopes: fc.subarray(allScopes(), { minLength: 1 }),
  lives: fc.option(fc.integer({ min: 1, max: 200 })),
})

export const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: imports, weight: 8 },
  { arbitrary: list, weight: 5 },
  { arbitrary: single, weight: 8 },
  { arbitrary: events, weight: 3 },
  { arbitrary: wait, weight: 3 },
  { arbitrary: fc.constant({ do: 'sweep' as const }), weight: 2 },
  { arbitrary: createKey, weight: 2 },
  {
    arbitrary: fc.record({
      do: fc.constantFrom('rotate' as const, 'revoke' as const, 'expire' as const),
      key: fc.nat(30),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('change plan' as const),
      organisation: small,
      plan: fc.constantFrom(...plans),
    }),
    weight: 1,
  },
  { arbitrary: fc.record({ do: fc.constant('totals' as const), tracker: small }), weight: 1 },
)

/** An item for any number. */
export function itemAt<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length]
  assert.ok(item !== undefined)
  return item
}
