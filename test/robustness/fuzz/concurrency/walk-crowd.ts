import assert from 'node:assert/strict'
import {
  type SubjectPosition,
  type SubjectStore,
  type SubjectSummary,
  subjectSorts,
} from '../../../../src/domain/subject.ts'
import type { TrackerView } from '../../../../src/domain/tracker.ts'
import { everySubject, walk } from '../../../storage/contract/fixture.ts'
import type { SeededRandom } from '../../../support/seeded-random.ts'
import { keepers } from './stage.ts'

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
