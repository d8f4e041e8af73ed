import type { FoundSubject, Identifier } from './api.ts'
import { type BatchDeps, type BatchOptions, eraseBatch } from './erase-batch.ts'
import type { ErasureReport } from './erasure-report.ts'
import type { ClientError } from './errors.ts'
import type { SubjectExport } from './subject-export.ts'

/** Whom to look for: whoever is known by an identifier, or an id, in whichever tracker. */
export type Sought = { identifier: Identifier } | { subjectId: string }

/** A data subject, by its ids. */
export interface SubjectRef {
  trackerId: string
  subjectId: string
}

/** One of a person's data subjects, and all that is stored about it. */
export interface PersonExport {
  found: FoundSubject
  export: SubjectExport
}

/** What became of one of a person's data subjects. */
export type PersonOutcome = SubjectRef &
  ({ status: 'erased'; erasure: ErasureReport } | { status: 'failed'; error: ClientError })

/** A batch over several trackers: to the batch, an id is a tracker's and a subject's together. */
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
