import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BatchLines, NewBatchItem } from '../../domain/erasure-batch.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { maxPageSize } from '../../domain/page.ts'
import { Problems } from '../../domain/problems.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import { isIdentifierValue } from '../../domain/subject-identifier.ts'
import type { OrganisationView, SearchStore, Sought } from '../../domain/subject-search.ts'
import type { TrackerStore } from '../../domain/tracker.ts'
import { ever, type StoredPage, searchStored } from '../subject/search-subjects.ts'
import { type GivenList, type ListedLine, readList } from './read-list.ts'

/** What a member wants a batch to be. */
export interface WantedBatch extends GivenList {
  /** What each line is. */
  by: 'subjectId' | 'email'
  /** Where to look; every tracker of the organisation when none is named. */
  trackerIds: readonly string[]
}

/** What a batch would do, as of now. */
export interface BatchPlan extends BatchLines {
  /** How many lines lead to somebody. */
  found: number
  /** How many subjects would go, and what can be seen of them. */
  subjects: number
  counts: SubjectCounts
  /** How many of them cannot be seen any more, though they are stored. */
  hidden: number
  /** How many subjects in which tracker. */
  trackers: Map<string, number>
  items: NewBatchItem[]
}

/** How many subjects a batch may erase: a person may be many of them. */
export const maxBatchSubjects = 10_000

/** So many lines are looked up before other requests get their turn. */
const linesPerTurn = 16

/** Looks for everybody on a list, and changes nothing. `validation_error` for a list or trackers that will not do. */
export async function planBatch(
  deps: { search: SearchStore; trackers: TrackerStore },
  view: OrganisationView,
  wanted: WantedBatch,
): Promise<BatchPlan> {
  const problems = new Problems()
  const listed = readList(wanted, problems)
  const trackerIds = await chosenTrackers(deps, view, wanted, problems)
  problems.throwIfAny()
  const plan: BatchPlan = {
    ...{ lines: listed.length, found: 0, nothing: 0, invalid: 0, repeated: 0, subjects: 0, hidden: 0 },
    ...{ counts: { sessions: 0, events: 0 }, trackers: new Map(), items: [] },
  }
  const taken = new Set<string>()
  for (let at = 0; at < listed.length; at += linesPerTurn) {
    const lines = listed.slice(at, at + linesPerTurn)
    const found = await Promise.all(lines.map((line) => findAll(deps, view, wanted.by, line)))
    for (const [i, line] of lines.entries()) {
      addLine(plan, taken, line, found[i] ?? null, (trackerId) => trackerIds?.has(trackerId) ?? true)
    }
    if (plan.subjects > maxBatchSubjects) {
      problems.add(
        'text',
        `text leads to more than ${maxBatchSubjects} data subjects, which is the most a batch takes`,
      )
      problems.throwIfAny()
    }
    await nextTurn()
  }
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

/** Whom a line leads to. */
type Person = Pick<StoredPage, 'subjects' | 'hidden'>

/** Everybody a line leads to, hidden data included; `null` for one that names nobody who could be. */
async function findAll(
  deps: { search: SearchStore },
  view: OrganisationView,
  by: WantedBatch['by'],
  { value }: ListedLine,
): Promise<Person | null> {
  const sought = soughtBy(by, value)
  if (sought === null) return null
  const found: Person = { subjects: [], hidden: [] }
  let after: string | null = null
  do {
    const page = await searchStored(deps, view, ever, { sought, limit: maxPageSize, after })
    found.subjects.push(...page.subjects)
    found.hidden.push(...page.hidden)
    after = page.next
  } while (after !== null && found.subjects.length + found.hidden.length <= maxBatchSubjects)
  return found
}

function soughtBy(by: WantedBatch['by'], value: string): Sought | null {
  if (by === 'subjectId') return isIdentifier(value) ? { subjectId: value } : null
  const address = value.trim()
  if (!isIdentifierValue(address) || !/^[^@\s]+@[^@\s]+$/.test(address)) return null
  return { identifier: { name: 'email', value: address } }
}

function addLine(
  plan: BatchPlan,
  taken: Set<string>,
  { line }: ListedLine,
  person: Person | null,
  isChosen: (trackerId: string) => boolean,
): void {
  const hidden = (person?.hidden ?? []).map((each) => ({ ...each, counts: null }))
  const subjects = [...(person?.subjects ?? []), ...hidden].filter(({ trackerId }) => isChosen(trackerId))
  if (subjects.length === 0) {
    const outcome = person === null ? 'invalid' : 'nothing'
    plan[outcome] += 1
    plan.items.push({ line, outcome })
    return
  }
  const fresh = subjects.filter(({ trackerId, subjectId }) => !taken.has(`${trackerId}\0${subjectId}`))
  if (fresh.length === 0) {
    plan.repeated += 1
    plan.items.push({ line, outcome: 'repeated' })
    return
  }
  plan.found += 1
  fresh.sort((a, b) => (a.trackerId < b.trackerId ? -1 : 1))
  for (const { trackerId, subjectId, counts } of fresh) {
    taken.add(`${trackerId}\0${subjectId}`)
    plan.subjects += 1
    plan.hidden += counts ? 0 : 1
    plan.counts.sessions += counts?.sessions ?? 0
    plan.counts.events += counts?.events ?? 0
    plan.trackers.set(trackerId, (plan.trackers.get(trackerId) ?? 0) + 1)
    plan.items.push({ line, outcome: 'waiting', trackerId, subjectId })
  }
}
