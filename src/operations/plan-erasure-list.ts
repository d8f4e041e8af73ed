import { setImmediate as nextTurn } from 'node:timers/promises'
import { addCounts, type DataCounts } from '../domain/activity.ts'
import { Problems } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { earliestInstant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { maxPageSize } from '../domain/page.ts'
import { namesPerson, type Person, refKey, type SubjectRef } from '../domain/person.ts'
import type { RequestGroupStore } from '../domain/request-group.ts'
import type { FairQueue } from '../domain/semaphore.ts'
import { comparableValue, isIdentifierValue } from '../domain/subject-identifier.ts'
import type { OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import { checkReference, namesThePerson } from './create-privacy-request.ts'
import { divideLine, hasBegun, type LineRequest, type ListedSubject } from './divide-line.ts'
import { type GivenList, type ListedLine, readList } from './read-erasure-list.ts'
import { namesSubjects } from './search-request.ts'
import { type StoredPage, searchStored } from './search-subjects.ts'

export interface WantedList extends GivenList {
  /** What each line contains. */
  by: 'subjectId' | 'email'
  /** Empty for all trackers of the organisation. */
  trackerIds: readonly string[]
  /** The reference of all requests. */
  reference: string
}

/** Why a line gets no request. `requested` ones got theirs before, with the same reference. */
export const unusedOutcomes = ['nothing', 'invalid', 'repeated', 'requested'] as const
type UnusedOutcome = (typeof unusedOutcomes)[number]

/** A person to erase with a request. */
export interface ListedPerson {
  line: number
  requestId: string
  /** Whether the request was created before, but not started. */
  isCreated: boolean
  person: Person
  found: DataCounts
}

/** What erasing a list would do now. Each line read is counted once in `lines`, `empty` or `other`. */
export interface ErasureListPlan extends Record<UnusedOutcome, number> {
  /** Lines that are not empty. */
  lines: number
  empty: number
  /** In a CSV file: the header, and lines that begin inside quotes. */
  other: number
  people: ListedPerson[]
  /** Everyone's data, as far as it is visible. */
  found: DataCounts
  /** How many data subjects the requests of `requested` lines found. */
  begun: number
  /** How many data subjects are stored but no longer visible. */
  hidden: number
  /** Data subjects per tracker. */
  trackers: Map<string, number>
  unused: { line: number; outcome: UnusedOutcome }[]
}

/** One line can match many subjects. */
const maxListSubjects = 10_000

const linesPerSlice = 16

export interface PlanDeps {
  search: SearchStore
  trackers: TrackerStore
  requestGroups: RequestGroupStore
  keyring: Keyring
  jobs: FairQueue
}

/** Yields to other requests. */
export type Pause = () => Promise<void>

/**
 * Finds everyone on a list. Throws `validation_error` for an invalid list, invalid trackers, or a reference
 * that names someone.
 */
export function previewList(
  deps: PlanDeps,
  view: OrganisationView,
  wanted: WantedList,
  signal: AbortSignal,
): Promise<ErasureListPlan> {
  const plan = (giveWay: () => Promise<void>) =>
    planList(deps, view, wanted, async () => {
      await nextTurn()
      await giveWay()
      signal.throwIfAborted()
    })
  return deps.jobs.run(view.organisationId, plan, signal)
}

/** As `previewList`, as a part of a job. */
export async function planList(
  deps: PlanDeps,
  view: OrganisationView,
  wanted: WantedList,
  pause: Pause,
): Promise<ErasureListPlan> {
  const problems = new Problems()
  checkReference(wanted.reference, problems)
  const { listed, empty, other } = await readList(wanted, problems, pause)
  await checkTrackers(deps, view, wanted, problems)
  problems.throwIfAny()
  const plan: ErasureListPlan = {
    ...{ lines: listed.length, empty, other, nothing: 0, invalid: 0, repeated: 0, requested: 0 },
    ...{ people: [], found: { subjects: 0, sessions: 0, events: 0 }, begun: 0, hidden: 0 },
    ...{ trackers: new Map(), unused: [] },
  }
  const asked = distinctLines(plan, wanted.by, listed)
  const taken = new Set<string>()
  const chosen = new Set(wanted.trackerIds)
  for (let at = 0; at < asked.length; at += linesPerSlice) {
    const before = plan.people.length
    const found: SubjectRef[] = []
    for (const line of await lookUpLines(deps, view, wanted, asked.slice(at, at + linesPerSlice))) {
      const stored = await findAll(line.first, async (after) => {
        await pause()
        return lookUp(deps, view, line.sought, after)
      })
      found.push(...stored.subjects, ...stored.hidden)
      await addLine(plan, taken, line, stored, chosen)
    }
    if (
      plan.people.slice(before).some(({ person }) => namesPerson(wanted.reference, person)) ||
      (await namesSubjects(wanted.reference, found))
    )
      problems.add('reference', namesThePerson)
    if (plan.found.subjects > maxListSubjects)
      problems.add('text', `text matches more than ${maxListSubjects} data subjects, the maximum for a list`)
    problems.throwIfAny()
    await pause()
  }
  plan.unused.sort((a, b) => a.line - b.line)
  plan.trackers = new Map([...plan.trackers].sort(([a], [b]) => (a < b ? -1 : 1)))
  return plan
}

async function checkTrackers(
  { trackers }: { trackers: TrackerStore },
  { organisationId }: OrganisationView,
  { trackerIds }: WantedList,
  problems: Problems,
): Promise<void> {
  const visible = new Set((await trackers.list(organisationId)).map(({ id }) => id))
  if (!trackerIds.every((id) => visible.has(id)))
    problems.add('trackerIds', 'trackerIds must be trackers of this organisation')
}

interface AskedLine {
  line: number
  sought: Sought
  /** The same for lines that name the same person. */
  name: string
}

/** The lines to look up. Invalid and repeated lines are added to the plan. */
function distinctLines(
  plan: ErasureListPlan,
  by: WantedList['by'],
  listed: readonly ListedLine[],
): AskedLine[] {
  const named = new Set<string>()
  return listed.flatMap(({ line, value }) => {
    const sought = soughtBy(by, value)
    if (sought === null) return leaveOut(plan, line, 'invalid')
    const name = 'subjectId' in sought ? sought.subjectId : comparableValue(sought.identifier)
    if (named.has(name)) return leaveOut(plan, line, 'repeated')
    named.add(name)
    return [{ line, sought, name }]
  })
}

function leaveOut(plan: ErasureListPlan, line: number, outcome: UnusedOutcome): [] {
  plan[outcome] += 1
  plan.unused.push({ line, outcome })
  return []
}

interface LookedUpLine extends AskedLine {
  /**
   * Whether its requests name the data subjects that were found. An address in all trackers is named as such
   * in one request, so that the erasure also finds what arrives meanwhile.
   */
  isDivided: boolean
  /** Its first requests. If some have begun, all that are stored are among them. */
  requests: LineRequest[]
  /** Adds the next ones. */
  readMore(count: number): Promise<void>
  first: StoredPage
}

const nobody: StoredPage = { subjects: [], hidden: [], next: null }

/** Looks up lines together. Those whose requests are no longer open are not searched for. */
async function lookUpLines(
  deps: PlanDeps,
  view: OrganisationView,
  { reference, by, trackerIds }: WantedList,
  lines: readonly AskedLine[],
): Promise<LookedUpLine[]> {
  const { organisationId } = view
  const trackers = trackerIds.toSorted()
  const idsOf = ({ name }: AskedLine, part: number) =>
    deps.keyring.requestIds(organisationId, JSON.stringify([reference, by, name, trackers, part]))
  const read = async (ids: readonly (readonly [string, ...string[]])[]): Promise<LineRequest[]> => {
    const known = await deps.requestGroups.known(organisationId, ids.flat())
    return ids.map(([current, ...older]) => {
      // Under the secret that was current then.
      const id = older.find((each) => known.has(each)) ?? current
      return { id, known: known.get(id) ?? null }
    })
  }
  const firsts = await read(lines.map((line) => idsOf(line, 0)))
  return Promise.all(
    lines.map(async (line, i) => {
      const requests = firsts.slice(i, i + 1)
      const isDivided = 'subjectId' in line.sought || trackers.length > 0
      const readMore = async (count: number) => {
        const next = Array.from({ length: count }, (_, at) => idsOf(line, requests.length + at))
        requests.push(...(await read(next)))
      }
      while (isDivided && requests.at(-1)?.known) await readMore(requests.length)
      const isSought = !requests.some(hasBegun) || requests.some(({ known }) => known?.state === 'open')
      const first = isSought ? await lookUp(deps, view, line.sought, null) : nobody
      return { ...line, isDivided, requests, readMore, first }
    }),
  )
}

function lookUp(deps: PlanDeps, view: OrganisationView, sought: Sought, after: string | null) {
  return searchStored(deps, view, earliestInstant, { sought, limit: maxPageSize, after })
}

type StoredSubjects = Pick<StoredPage, 'subjects' | 'hidden'>

/** Reads all pages of a line's matches, including hidden data. */
async function findAll(
  first: StoredPage,
  readMore: (after: string) => Promise<StoredPage>,
): Promise<StoredSubjects> {
  const { subjects, hidden } = first
  let after = first.next
  while (after !== null && subjects.length + hidden.length <= maxListSubjects) {
    const page = await readMore(after)
    subjects.push(...page.subjects)
    hidden.push(...page.hidden)
    after = page.next
  }
  return { subjects, hidden }
}

function soughtBy(by: WantedList['by'], value: string): Sought | null {
  if (by === 'subjectId') return isIdentifier(value) ? { subjectId: value } : null
  const address = value.trim()
  if (!isIdentifierValue(address) || !/^[^@\s]+@[^@\s]+$/.test(address)) return null
  return { identifier: { name: 'email', value: address } }
}

/** Adds the people of a line. */
async function addLine(
  plan: ErasureListPlan,
  taken: Set<string>,
  asked: LookedUpLine,
  { subjects, hidden }: StoredSubjects,
  chosen: ReadonlySet<string>,
): Promise<void> {
  const { line, requests } = asked
  const stored = [...subjects, ...hidden.map((each) => ({ ...each, counts: null }))]
  const all: ListedSubject[] = stored.filter(({ trackerId }) => chosen.size === 0 || chosen.has(trackerId))
  const fresh = all.filter((each) => !taken.has(refKey(each)))
  fresh.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1))
  const parts = await partsOf(asked, fresh)
  for (const { known } of requests.filter(hasBegun)) plan.begun += known?.subjects ?? 0
  if (fresh.length === 0 || parts.length === 0) {
    const isRequested = requests.some(hasBegun)
    leaveOut(plan, line, isRequested ? 'requested' : all.length === 0 ? 'nothing' : 'repeated')
    return
  }
  for (const { request, person, subjects } of parts) {
    const found = countAll(subjects)
    plan.people.push({ line, requestId: request.id, isCreated: request.known !== null, person, found })
    addCounts(plan.found, found)
    for (const each of subjects) {
      taken.add(refKey(each))
      plan.trackers.set(each.trackerId, (plan.trackers.get(each.trackerId) ?? 0) + 1)
      if (each.counts === null) plan.hidden += 1
    }
  }
}

async function partsOf(
  { sought, isDivided, requests, readMore }: LookedUpLine,
  subjects: readonly ListedSubject[],
) {
  if ('identifier' in sought && !isDivided) {
    const person = { identifiers: [sought.identifier], subjects: [] }
    return requests.filter((each) => !hasBegun(each)).map((request) => ({ request, person, subjects }))
  }
  let divided = divideLine(requests, subjects)
  while (divided.missing > 0) {
    await readMore(divided.missing)
    divided = divideLine(requests, subjects)
  }
  return divided.parts
}

function countAll(subjects: readonly ListedSubject[]): DataCounts {
  const all = { subjects: subjects.length, sessions: 0, events: 0 }
  for (const { counts } of subjects) {
    all.sessions += counts?.sessions ?? 0
    all.events += counts?.events ?? 0
  }
  return all
}
