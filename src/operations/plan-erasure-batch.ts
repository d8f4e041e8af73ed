import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SubjectCounts } from '../domain/activity.ts'
import type { BatchLines, NewBatchItem } from '../domain/erasure-batch.ts'
import { Problems } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { earliestInstant } from '../domain/instant.ts'
import { maxPageSize } from '../domain/page.ts'
import { refKey } from '../domain/person.ts'
import type { FairQueue } from '../domain/semaphore.ts'
import { comparableValue, isIdentifierValue } from '../domain/subject-identifier.ts'
import type { OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import { type GivenList, type ListedLine, readList } from './read-erasure-list.ts'
import { type StoredPage, searchStored } from './search-subjects.ts'

export interface WantedBatch extends GivenList {
  /** What each line contains. */
  by: 'subjectId' | 'email'
  /** Empty for all trackers of the organisation. */
  trackerIds: readonly string[]
}

/** What a batch would do now. */
export interface BatchPlan extends BatchLines {
  /** How many lines match data. */
  found: number
  /** How many subjects would be erased, and how much of their data is visible. */
  subjects: number
  counts: SubjectCounts
  /** How many of them are stored but no longer visible. */
  hidden: number
  /** Subjects per tracker. */
  trackers: Map<string, number>
  items: NewBatchItem[]
}

/** One line can match many subjects. */
export const maxBatchSubjects = 10_000

const linesPerSlice = 16

export interface PlanDeps {
  search: SearchStore
  trackers: TrackerStore
  jobs: FairQueue
}

/** Finds everyone on a list. Throws `validation_error` for an invalid list or invalid trackers. */
export function planBatch(
  deps: PlanDeps,
  view: OrganisationView,
  wanted: WantedBatch,
  signal?: AbortSignal,
): Promise<BatchPlan> {
  return deps.jobs.run(
    view.organisationId,
    (giveWay) => {
      const pause = async () => {
        await nextTurn()
        await giveWay()
        signal?.throwIfAborted()
      }
      return planList(deps, view, wanted, pause)
    },
    signal,
  )
}

/** Yields to other requests. */
type Pause = () => Promise<void>

async function planList(
  deps: PlanDeps,
  view: OrganisationView,
  wanted: WantedBatch,
  pause: Pause,
): Promise<BatchPlan> {
  const problems = new Problems()
  const { listed, empty, other } = await readList(wanted, problems, pause)
  const trackerIds = await chosenTrackers(deps, view, wanted, problems)
  problems.throwIfAny()
  const plan: BatchPlan = {
    ...{ lines: listed.length, nothing: 0, invalid: 0, repeated: 0, empty, other },
    ...{
      found: 0,
      subjects: 0,
      hidden: 0,
      counts: { sessions: 0, events: 0 },
      trackers: new Map(),
      items: [],
    },
  }
  const isChosen = (trackerId: string) => trackerIds?.has(trackerId) ?? true
  const asked = distinctLines(plan, wanted.by, listed)
  const taken = new Set<string>()
  for (let at = 0; at < asked.length; at += linesPerSlice) {
    const lines = asked.slice(at, at + linesPerSlice)
    const found = await Promise.all(
      lines.map(async (each) => ({ ...each, first: await lookUp(deps, view, each.sought, null) })),
    )
    for (const { line, sought, first } of found) {
      const person = await findAll(first, async (after) => {
        await pause()
        return lookUp(deps, view, sought, after)
      })
      addPerson(plan, taken, line, person, isChosen)
    }
    if (plan.subjects > maxBatchSubjects) {
      problems.add(
        'text',
        `text matches more than ${maxBatchSubjects} data subjects, the maximum for a batch`,
      )
      problems.throwIfAny()
    }
    await pause()
  }
  plan.items.sort((a, b) => a.line - b.line)
  plan.trackers = new Map([...plan.trackers].sort(([a], [b]) => (a < b ? -1 : 1)))
  return plan
}

async function chosenTrackers(
  { trackers }: { trackers: TrackerStore },
  { organisationId }: OrganisationView,
  { trackerIds }: WantedBatch,
  problems: Problems,
): Promise<Set<string> | null> {
  if (trackerIds.length === 0) return null
  const visible = new Set((await trackers.list(organisationId)).map(({ id }) => id))
  if (!trackerIds.every((id) => visible.has(id)))
    problems.add('trackerIds', 'trackerIds must be trackers of this organisation')
  return new Set(trackerIds)
}

/** The lines to look up. Invalid and repeated lines are added to the plan. */
function distinctLines(plan: BatchPlan, by: WantedBatch['by'], listed: readonly ListedLine[]) {
  const named = new Set<string>()
  return listed.flatMap(({ line, value }) => {
    const sought = soughtBy(by, value)
    if (sought === null) return addUnmatched(plan, line, 'invalid')
    const name = 'subjectId' in sought ? sought.subjectId : comparableValue(sought.identifier)
    if (named.has(name)) return addUnmatched(plan, line, 'repeated')
    named.add(name)
    return [{ line, sought }]
  })
}

function addUnmatched(plan: BatchPlan, line: number, outcome: 'nothing' | 'invalid' | 'repeated'): [] {
  plan[outcome] += 1
  plan.items.push({ line, outcome })
  return []
}

function lookUp(deps: PlanDeps, view: OrganisationView, sought: Sought, after: string | null) {
  return searchStored(deps, view, earliestInstant, { sought, limit: maxPageSize, after })
}

type Person = Pick<StoredPage, 'subjects' | 'hidden'>

/** Reads all pages of a line's matches, including hidden data. */
async function findAll(first: StoredPage, readMore: (after: string) => Promise<StoredPage>): Promise<Person> {
  const { subjects, hidden } = first
  let after = first.next
  while (after !== null && subjects.length + hidden.length <= maxBatchSubjects) {
    const page = await readMore(after)
    subjects.push(...page.subjects)
    hidden.push(...page.hidden)
    after = page.next
  }
  return { subjects, hidden }
}

function soughtBy(by: WantedBatch['by'], value: string): Sought | null {
  if (by === 'subjectId') return isIdentifier(value) ? { subjectId: value } : null
  const address = value.trim()
  if (!isIdentifierValue(address) || !/^[^@\s]+@[^@\s]+$/.test(address)) return null
  return { identifier: { name: 'email', value: address } }
}

function addPerson(
  plan: BatchPlan,
  taken: Set<string>,
  line: number,
  person: Person,
  isChosen: (trackerId: string) => boolean,
): void {
  const hidden = person.hidden.map((each) => ({ ...each, counts: null }))
  const subjects = [...person.subjects, ...hidden].filter(({ trackerId }) => isChosen(trackerId))
  const fresh = subjects.filter((each) => !taken.has(refKey(each)))
  if (fresh.length === 0) {
    addUnmatched(plan, line, subjects.length === 0 ? 'nothing' : 'repeated')
    return
  }
  plan.found += 1
  fresh.sort((a, b) => (a.trackerId < b.trackerId ? -1 : 1))
  for (const { trackerId, subjectId, counts } of fresh) {
    taken.add(refKey({ trackerId, subjectId }))
    plan.subjects += 1
    plan.hidden += counts ? 0 : 1
    plan.counts.sessions += counts?.sessions ?? 0
    plan.counts.events += counts?.events ?? 0
    plan.trackers.set(trackerId, (plan.trackers.get(trackerId) ?? 0) + 1)
    plan.items.push({ line, outcome: 'waiting', trackerId, subjectId })
  }
}
