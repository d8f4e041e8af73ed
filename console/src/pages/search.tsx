import { ApiError, change, encode, read } from '../api.ts'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { formatNumber } from '../parts/when.tsx'
import { useFetched } from '../resource.ts'
import { Link } from '../router.tsx'
import { useSought } from '../sought.ts'
import type { FoundSubject, FoundSubjectList, Tracker, TrackerList } from '../types.ts'
import { SubjectTable } from './subject-table.tsx'

const pageSize = 200
/** Nobody has so many; who asks for more than this asks the API. */
const mostFound = 1_000

/** What was found on one tracker. */
interface Group {
  tracker: Pick<Tracker, 'id' | 'name'>
  subjects: FoundSubject[]
}

/** Whom somebody looks for, in all trackers of the organisation. */
export function SearchPage() {
  const text = useSought()
  const found = useFetched<Group[]>(text === '' ? null : text, findGroups)
  return (
    <Page title="Search" intro={<span role="status">{found.data ? summary(found.data) : ' '}</span>}>
      {text === '' ? (
        <Empty icon="search" title="Whom are you looking for?">
          <p>{howTo}</p>
        </Empty>
      ) : (
        <Loaded resource={found} lines={6}>
          {(groups) =>
            groups.length === 0 ? (
              <Empty icon="person" title="Nobody found">
                <p>
                  Nobody is known by “{text}”, on any tracker. {howTo} Small and capital letters count, but
                  not in an address.
                </p>
              </Empty>
            ) : (
              groups.map(({ tracker, subjects }) => (
                <section key={tracker.id} class="found" aria-labelledby={`found-${tracker.id}`}>
                  <h2 id={`found-${tracker.id}`}>
                    <Link to={`/console/trackers/${encode(tracker.id)}`}>{tracker.name}</Link>
                  </h2>
                  <SubjectTable trackerId={tracker.id} subjects={subjects} />
                </section>
              ))
            )
          }
        </Loaded>
      )}
    </Page>
  )
}

const howTo =
  'Type an e-mail address, another identifier with its name, such as userId=42, or the id of a data subject.'

function summary(groups: readonly Group[]): string {
  const count = groups.reduce((sum, { subjects }) => sum + subjects.length, 0)
  if (count === 0) return 'Nobody found'
  const subjects = count === 1 ? '1 data subject' : `${formatNumber(count)} data subjects`
  const more = count >= mostFound ? ', and maybe more' : ''
  return `${subjects} on ${groups.length === 1 ? '1 tracker' : `${groups.length} trackers`}${more}`
}

/** A text can be an identifier as well as an id: both are looked for. */
function interpretations(text: string): object[] {
  const [, name, value] = /^([a-z][A-Za-z0-9_]{0,31})=(.+)$/.exec(text) ?? []
  const byId = { subjectId: text }
  if (name !== undefined) return [{ identifier: { name, value } }, byId]
  return text.includes('@') ? [{ identifier: { name: 'email', value: text } }, byId] : [byId]
}

async function findGroups(text: string, signal: AbortSignal): Promise<Group[]> {
  const [{ trackers }, ...found] = await Promise.all([
    read<TrackerList>('/trackers', signal),
    ...interpretations(text).map(findAll),
  ])
  const groups = trackers.map(({ id, name }) => {
    const own = found.flat().filter(({ trackerId }) => trackerId === id)
    const byId = new Map(own.map((subject) => [subject.subjectId, subject]))
    return { tracker: { id, name }, subjects: [...byId.values()] }
  })
  return groups.filter(({ subjects }) => subjects.length > 0)
}

async function findAll(sought: object): Promise<FoundSubject[]> {
  const all: FoundSubject[] = []
  try {
    for (let cursor: string | null = null; all.length < mostFound; ) {
      const body: object = { ...sought, limit: pageSize, ...(cursor !== null && { cursor }) }
      const page: FoundSubjectList = await change('/subjects/search', body)
      all.push(...page.subjects)
      cursor = page.nextCursor
      if (cursor === null) break
    }
  } catch (error) {
    // What cannot be an id or an identifier is nobody's.
    if (!(error instanceof ApiError && error.status === 422)) throw error
  }
  return all
}
