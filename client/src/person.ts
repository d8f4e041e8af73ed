import type { FoundSubject, Identifier } from './api.ts'
import { type BatchDeps, type BatchOptions, eraseBatch } from './erase-batch.ts'
import type { ErasureReport } from './erasure-report.ts'
import type { ClientError } from './errors.ts'
import type { SubjectExport } from './subject-export.ts'

/** What to search for in every tracker: an identifier of a person, or the ID of a data subject. */
export type Sought = { identifier: Identifier } | { subjectId: string }

/** A data subject and its tracker. */
export interface SubjectRef {
  trackerId: string
  subjectId: string
}

/** One of a person's data subjects and its export. */
export interface PersonExport {
  found: FoundSubject
  export: SubjectExport
}

/** The result for one of a person's data subjects. */
export type PersonOutcome = SubjectRef &
  ({ status: 'erased'; erasure: ErasureReport } | { status: 'failed'; error: ClientError })

/** A batch over several trackers: its IDs combine a tracker and a data subject. */
export async function* erasePerson(
  subjects: readonly SubjectRef[],
  {
    erase,
    ...deps
  }: Omit<BatchDeps, 'trackerId' | 'ids' | 'attempt'> & {
    erase(subject: SubjectRef, ...rest: Tail<Parameters<BatchDeps['attempt']>>): Promise<ErasureReport>
  },
  options: BatchOptions,
): AsyncGenerator<PersonOutcome, void, undefined> {
  const refs = new Map(
    subjects.map(({ trackerId, subjectId }) => [
      JSON.stringify([trackerId, subjectId]),
      { trackerId, subjectId },
    ]),
  )
  const refOf = (id: string) => refs.get(id) ?? { trackerId: '', subjectId: '' }
  const batch: BatchDeps = {
    ...deps,
    trackerId: '',
    ids: [...refs.keys()],
    attempt: (id, state, learn) => erase(refOf(id), state, learn),
  }
  for await (const { subjectId: id, ...outcome } of eraseBatch(batch, options)) {
    yield { ...refOf(id), ...outcome }
  }
}

type Tail<List extends unknown[]> = List extends [unknown, ...infer Rest] ? Rest : never
