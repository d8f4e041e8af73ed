import type { LetheClient } from '@lethe/client'
import { grouped } from '../progress.ts'
import { isRefusal } from './with-client.ts'

/** How many data subjects a dry run reads at most: with the budgets as they are by default, it then waits for none of them. */
const mostChecked = 50

/** What the service says of the data subjects of a batch that were looked at. */
export interface CheckedBatch {
  subjects: number
  holdingData: number
  sessions: number
  events: number
}

/** Asks the service for the tracker and, spread over the list, for the data subjects of a batch. Erases nothing. */
export async function checkBatch(
  client: LetheClient,
  tracker: string,
  ids: readonly string[],
): Promise<CheckedBatch> {
  // A subject that is not there and a tracker that is not are the same 404; only a list tells them apart.
  await client.listSubjects(tracker, { limit: 1 }).pages().next()
  const checked = { subjects: Math.min(ids.length, mostChecked), holdingData: 0, sessions: 0, events: 0 }
  for (let number = 0; number < checked.subjects; number++) {
    const counts = await countsOf(client, tracker, ids[spread(number, checked.subjects, ids.length)] ?? '')
    if (counts === null) continue
    checked.holdingData += 1
    checked.sessions += counts.sessions
    checked.events += counts.events
  }
  return checked
}

export function checkInWords({ subjects, holdingData, ...counts }: CheckedBatch, total: number): string {
  const data = `${grouped(holdingData)} hold data`
  const amount = `${grouped(counts.sessions)} sessions and ${grouped(counts.events)} events.`
  if (subjects === total) {
    return `${grouped(holdingData)} of ${grouped(total)} subjects hold data: ${amount} Nothing was erased.`
  }
  const lookedAt = `Of ${grouped(total)} subjects ${grouped(subjects)} were looked at, spread over the list`
  return `${lookedAt}: ${data}, ${amount} The others were not looked at. Nothing was erased.`
}

/** `null` for a data subject that holds nothing. */
async function countsOf(client: LetheClient, tracker: string, id: string) {
  try {
    return (await client.readSubject(tracker, id)).counts
  } catch (error) {
    if (isRefusal(error, 'not_found')) return null
    throw error
  }
}

/** The position of one of `count` in a list of `length`, the first and the last of both being the same. */
function spread(number: number, count: number, length: number): number {
  return count === 1 ? 0 : Math.round((number * (length - 1)) / (count - 1))
}
