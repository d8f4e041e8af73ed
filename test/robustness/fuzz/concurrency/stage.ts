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

/** What a process is told to do. */
export interface WorkOrder {
  /** Of the store. */
  address: string
  seed: number
  /** The trackers of a single subject each that it works on, those of each chapter together. */
  chapters: string[][]
  /** Marks what it imports, so that no two processes import the same. */
  name: string
  /** So many, in each of so many lanes that do not wait for each other. */
  steps: number
  lanes: number
}

export const organisationId = 'acme'
/** How many steps of a lane make a chapter. */
export const chapterSteps = 15
/** Where the window begins. */
export const edge: Instant = Date.parse('2026-11-15T12:00:00.000Z')
/** Who is in the crowd all the time. */
export const keepers = Array.from({ length: 40 }, (_, number) => `keeper-${String(number).padStart(2, '0')}`)

export async function setStage({ organisations, trackers, ingest, retention }: Store): Promise<void> {
  await organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: 1 })
  await rememberWindows({ retention }, keeping(1))
  await trackers.create({ id: 'crowd', organisationId, name: 'crowd', createdAt: 1 })
  await ingest.ingest(
    keepers.flatMap((keeper, i) => visit(keeper, { trackerId: 'crowd', startedAt: edge + i * 250 })),
    testKeys,
  )
}

/**
 * Makes trackers of a single subject each, so that a sweep tells what it took from that one. With every chapter others begin: what was
 * erased refuses more and more of what comes.
 */
export async function beginChapters({ trackers }: Store, round: number, steps: number): Promise<string[][]> {
  const chapters = Array.from({ length: Math.ceil(steps / chapterSteps) }, (_, chapter) =>
    ['first', 'second', 'third'].map((name) => `${round}-${chapter}-${name}`),
  )
  for (const id of chapters.flat()) await trackers.create({ id, organisationId, name: id, createdAt: 1 })
  return chapters
}

/** Walks the crowd page by page. Fails unless everybody who stays is there once, and by id nobody is there twice. */
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
