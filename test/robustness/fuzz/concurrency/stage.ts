import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/domain/instant.ts'
import type { Store } from '../../../../src/domain/store.ts'
import {
  type SubjectPosition,
  type SubjectStore,
  type SubjectSummary,
  subjectSorts,
} from '../../../../src/domain/subject.ts'
import type { TrackerView } from '../../../../src/domain/tracker.ts'
import { everySubject, walk } from '../../../storage/contract/fixture.ts'
import type { SeededRandom } from '../../../support/seeded-random.ts'
import { visit } from '../../../support/shop.ts'
import { testKeys } from '../../../support/test-keyring.ts'
import { keeping, rememberWindows } from '../../../support/windows.ts'

/** The parameters of a process. */
export interface WorkOrder {
  /** The address of the store. */
  address: string
  seed: number
  /** The trackers to work on, by chapter. Each tracker has one subject. */
  chapters: string[][]
  /** Marks its imports, so that no two processes import the same rows. */
  name: string
  /** The number of steps in each of `lanes` concurrent sequences. */
  steps: number
  lanes: number
}

export const organisationId = 'acme'
/** The number of steps of a lane in each chapter. */
export const chapterSteps = 15
/** The start of the window. */
export const windowStart: Instant = Date.parse('2026-11-15T12:00:00.000Z')
/** The subjects who stay in the crowd. */
export const keepers = Array.from({ length: 40 }, (_, number) => `keeper-${String(number).padStart(2, '0')}`)

export async function prepareStore({ organisations, trackers, ingest, retention }: Store): Promise<void> {
  await organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: 1 })
  await rememberWindows({ retention }, keeping(1))
  await trackers.create({ id: 'crowd', organisationId, name: 'crowd', createdAt: 1 })
  await ingest.ingest(
    keepers.flatMap((keeper, i) => visit(keeper, { trackerId: 'crowd', startedAt: windowStart + i * 250 })),
    testKeys,
  )
}

/**
 * Creates trackers with one subject each, so that a sweep reports what it deleted of that subject. Each
 * chapter starts with new ones, because erasures refuse more and more of the imports.
 */
export async function beginChapters({ trackers }: Store, round: number, steps: number): Promise<string[][]> {
  const chapters = Array.from({ length: Math.ceil(steps / chapterSteps) }, (_, chapter) =>
    ['first', 'second', 'third'].map((name) => `${round}-${chapter}-${name}`),
  )
  for (const id of chapters.flat()) await trackers.create({ id, organisationId, name: id, createdAt: 1 })
  return chapters
}

/** Lists the crowd page by page. Fails unless each keeper is listed once, and by ID nobody twice. */
export async function assertKeepersListed(
  store: SubjectStore,
  view: TrackerView,
  random: SeededRandom,
): Promise<void> {
  const sort = random.pick(subjectSorts)
  const limit = 1 + random.integer(12)
  const rows = await walk<SubjectSummary, SubjectPosition>((after) =>
    store.list(view, { ...everySubject, sort, limit, after }),
  )
  const ids = rows.map(({ subjectId }) => subjectId)
  const stayed = ids.filter((id) => keepers.includes(id))
  const expected = sort === '-lastSeenAt' ? keepers.toReversed() : keepers
  assert.deepEqual(stayed, expected, `sort=${sort}, limit=${limit}`)
  if (sort === 'subjectId') assert.equal(new Set(ids).size, ids.length, 'nobody is listed twice')
}
