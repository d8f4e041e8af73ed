import { change, encode } from './api.ts'
import { forget, refresh } from './resource.ts'
import type { Erasure, FoundSubject } from './types.ts'

export type SubjectRef = Pick<FoundSubject, 'trackerId' | 'subjectId'>

/** What somebody has just erased: the receipt, and whom it is about, until its certificate has been looked at. */
export interface FreshErasure {
  receipt: string
  subjectId: string
}

// Here alone, and not for long: nothing of who was erased may stay.
const fresh = new Map<number, FreshErasure>()

let left: Erasure['budget'] | null = null

/** What was left of the member's erasures when they last erased somebody; `null` before. */
export function erasuresLeft(): Erasure['budget'] | null {
  return left && new Date(left.resetsAt).getTime() > Date.now() ? left : null
}

/** Hands over what was erased just now under an index of the ledger, once. */
export function takeFresh(index: number): FreshErasure | null {
  const found = fresh.get(index) ?? null
  fresh.delete(index)
  return found
}

/** Erases a data subject and drops all that the pages know of it. */
export async function erase({ trackerId, subjectId }: SubjectRef): Promise<Erasure> {
  const path = `/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`
  const erasure = await change<Erasure>(`${path}/erase`, { subjectId })
  left = erasure.budget
  fresh.set(erasure.ledgerIndex, { receipt: erasure.receipt, subjectId })
  forget(path)
  for (const list of [`/trackers/${encode(trackerId)}`, '/trackers', '/erasures', '/activity'])
    void refresh(list)
  return erasure
}
