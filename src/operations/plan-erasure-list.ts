import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SubjectCounts } from '../domain/activity.ts'
import { Problems } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { earliestInstant } from '../domain/instant.ts'
import type { Keyring } from '../domain/keyring.ts'
import { maxPageSize } from '../domain/page.ts'
import { namesPerson, type Person, refKey, type SubjectRef } from '../domain/person.ts'
import type { RequestCounts } from '../domain/privacy-request.ts'
import type { KnownRequest, RequestGroupStore } from '../domain/request-group.ts'
import type { FairQueue } from '../domain/semaphore.ts'
import { comparableValue, isIdentifierValue } from '../domain/subject-identifier.ts'
import type { OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import { checkReference, namesThePerson } from './create-privacy-request.ts'
import { maxPersonParts } from './find-person.ts'
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
export type UnusedOutcome = (typeof unusedOutcomes)[number]

/** A person to erase with a request. */
export interface ListedPerson {
  line: number
  requestId: string
  /** Whether the request was created before, but not started. */
  isCreated: boolean
  person: Person
  found: RequestCounts
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
  found: RequestCounts
  /** How many data subjects the requests of `requested` lines found. */
  begun: number
  /** How many data subjects are stored but no longer visible. */
  hidden: number
  /** Data subjects per tracker. */
  trackers: Map<string, number>
  unused: { line: number; outcome: UnusedOutcome }[]
}

/** One line can match many subjects. */
export const maxListSubjects = 10_000

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
 * Finds everyone on a list. Throws `validation_error` for an invalid list, invalid trackers, or a reference that
 * names someone.
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
  const trackerIds = await chosenTrackers(deps, view, wanted, problems)
  problems.throwIfAny()
  const plan: ErasureListPlan = {
    ...{ lines: listed.length, empty, other, nothing: 0, invalid: 0, repeated: 0, requested: 0 },
    ...{ people: [], found: { subjects: 0, sessions: 0, events: 0 }, begun: 0, hidden: 0 },
    ...{ trackers: new Map(), unused: [] },
  }
  const asked = distinctLines(plan, wanted.by, listed)
  const taken = new Set<string>()
  for (let at = 0; at < asked.length; at += linesPerSlice) {
    const before = plan.people.length
    const found: SubjectRef[] = []
    for (const line of await lookUpLines(deps, view, wanted, asked.slice(at, at + linesPerSlice))) {
      const stored = await findAll(line.first, async (after) => {
        await pause()
        return lookUp(deps, view, line.sought, after)
      })
      found.push(...stored.subjects, ...stored.hidden)
      addLine(plan, taken, line, stored, trackerIds)
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

async function chosenTrackers(
  { trackers }: { trackers: TrackerStore },
  { organisationId }: OrganisationView,
  { trackerIds }: WantedList,
  problems: Problems,
): Promise<Set<string> | null> {
  if (trackerIds.length === 0) return null
  const visible = new Set((await trackers.list(organisationId)).map(({ id }) => id))
  if (!trackerIds.every((id) => visible.has(id)))
    problems.add('trackerIds', 'trackerIds must be trackers of this organisation')
  return new Set(trackerIds)
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
  /** The ID of its request. If a request cannot name all of its data subjects, there are several. */
  requestId: (part: number) => string
  /** The request that was created before; `null` if there is none. */
  known: KnownRequest | null
  first: StoredPage
}

const nobody: StoredPage = { subjects: [], hidden: [], next: null }

/** Looks up lines together. Those with a request that is no longer open are not searched for. */
async function lookUpLines(
  deps: PlanDeps,
  view: OrganisationView,
  wanted: WantedList,
  lines: readonly AskedLine[],
): Promise<LookedUpLine[]> {
  const { organisationId } = view
  const withIds = lines.map((each) => {
    const trackerIds = wanted.trackerIds.toSorted()
    const idsOf = (part: number) =>
      deps.keyring.requestIds(
        organisationId,
        JSON.stringify([wanted.reference, wanted.by, each.name, trackerIds, part]),
      )
    return { ...each, idsOf }
  })
  const requests = await deps.requestGroups.known(
    organisationId,
    withIds.flatMap(({ idsOf }) => idsOf(0)),
  )
  return Promise.all(
    withIds.map(async ({ idsOf, ...line }) => {
      const made = idsOf(0).findIndex((id) => requests.has(id))
      // Under the secret that was current then.
      const requestId = (part: number) => idsOf(part)[Math.max(0, made)] ?? idsOf(part)[0]
      const known = requests.get(requestId(0)) ?? null
      const isSought = known === null || known.state === 'open'
      const first = isSought ? await lookUp(deps, view, line.sought, null) : nobody
      return { ...line, requestId, known, first }
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

/**
 * Adds the person of a line. An address in all trackers is named as such, so that the erasure also finds what arrives
 * meanwhile; otherwise the data subjects that were found are named.
 */
function addLine(
  plan: ErasureListPlan,
  taken: Set<string>,
  { line, sought, requestId, known }: LookedUpLine,
  stored: StoredSubjects,
  trackerIds: ReadonlySet<string> | null,
): void {
  if (known !== null && known.state !== 'open') {
    plan.begun += known.subjects
    leaveOut(plan, line, 'requested')
    return
  }
  const isChosen = ({ trackerId }: SubjectRef) => trackerIds?.has(trackerId) ?? true
  const isFresh = (each: SubjectRef) => isChosen(each) && !taken.has(refKey(each))
  const all = [...stored.subjects, ...stored.hidden].filter(isChosen)
  const subjects = stored.subjects.filter(isFresh)
  const hidden = stored.hidden.filter(isFresh)
  if (subjects.length + hidden.length === 0) {
    leaveOut(plan, line, all.length === 0 ? 'nothing' : 'repeated')
    return
  }
  const fresh: ListedSubject[] = [
    ...subjects,
    ...hidden.map((each) => ({ ...each, counts: { sessions: 0, events: 0 } })),
  ]
  fresh.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1))
  for (const each of fresh) {
    taken.add(refKey(each))
    plan.trackers.set(each.trackerId, (plan.trackers.get(each.trackerId) ?? 0) + 1)
  }
  plan.hidden += hidden.length
  addCounts(plan.found, countAll(fresh))
  const isCreated = known !== null
  if ('identifier' in sought && trackerIds === null) {
    const person = { identifiers: [sought.identifier], subjects: [] }
    plan.people.push({ line, requestId: requestId(0), isCreated, person, found: countAll(fresh) })
    return
  }
  for (let at = 0; at < fresh.length; at += maxPersonParts) {
    const part = fresh.slice(at, at + maxPersonParts)
    const named = part.map(({ trackerId, subjectId }) => ({ trackerId, subjectId }))
    const person = { identifiers: [], subjects: named }
    const id = requestId(at / maxPersonParts)
    // Of several requests of a line, only the first was looked up.
    const isStored = isCreated && fresh.length <= maxPersonParts
    plan.people.push({ line, requestId: id, isCreated: isStored, person, found: countAll(part) })
  }
}

type ListedSubject = SubjectRef & { counts: SubjectCounts }

function countAll(subjects: readonly ListedSubject[]): RequestCounts {
  const all = { subjects: subjects.length, sessions: 0, events: 0 }
  for (const { counts } of subjects) {
    all.sessions += counts.sessions
    all.events += counts.events
  }
  return all
}

function addCounts(sum: RequestCounts, { subjects, sessions, events }: RequestCounts): void {
  sum.subjects += subjects
  sum.sessions += sessions
  sum.events += events
}
