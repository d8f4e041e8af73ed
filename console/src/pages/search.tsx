import { Button } from '../components/button.tsx'
import { Page } from '../components/page.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Id } from '../components/values.tsx'
import { counted } from '../components/when.tsx'
import { personPage } from '../person.ts'
import { useFetched } from '../resource.ts'
import { Link, navigate } from '../router.tsx'
import {
  countHidden,
  foundSubjects,
  noResults,
  searchPeople,
  setErasureList,
  subjectAddress,
  useSearchText,
} from '../search.ts'
import { useMay } from '../session.tsx'
import type { FoundGroup, FoundGroups, FoundPerson, FoundSubject } from '../types.ts'
import { SubjectTable } from './subject-table.tsx'

/** More results are available through the API only. */
const maxResults = 1_000
/** A request names no more data subjects; the same ID on more trackers needs a list. */
const maxNamed = 32

/** The search results on all trackers. */
export function SearchPage() {
  const text = useSearchText()
  const found = useFetched(text === '' ? null : `search ${text}`, () => searchPeople(text, maxResults))
  const { people } = found.data ?? noResults
  const [person] = people.length === 1 && !found.isLoading ? people : []
  const title = text === '' ? 'Search' : text
  return (
    <Page
      title="Search"
      heading={<Id text={title} />}
      intro={<span role="status">{found.data && text !== '' ? summary(found.data) : ' '}</span>}
      actions={person && <PersonLink person={person} />}
    >
      {text === '' ? (
        <Empty icon="search" title="Search for a person">
          <p>{howTo}</p>
        </Empty>
      ) : (
        <Loaded resource={found} lines={6}>
          {(all) => <Found {...{ text, all }} />}
        </Loaded>
      )}
    </Page>
  )
}

/**
 * The people that match, and separately the data subjects whose IDs only start with the text, who may be
 * different people.
 */
function Found({ text, all: { groups, people } }: { text: string; all: FoundGroups }) {
  if (groups.length === 0 && people.length === 0) return <NoResults text={text} />
  const addressesOf = (subjects: readonly FoundSubject[]) => new Set(subjects.map(subjectAddress))
  const known = addressesOf(people.flatMap(({ subjects }) => subjects))
  const beginning = pick(groups, (each) => !known.has(subjectAddress(each)))
  return (
    <>
      {people.map((person) => {
        const own = addressesOf(person.subjects)
        const isAlone = people.length === 1
        return (
          <section key={person.identifier?.name ?? ''} class="person" aria-label={byWhat(person)}>
            {!isAlone && (
              <header>
                <h2>{byWhat(person)}</h2>
                <PersonLink person={person} />
              </header>
            )}
            <Notes person={person} />
            <Groups of={pick(groups, (each) => own.has(subjectAddress(each)))} isNested={!isAlone} />
          </section>
        )
      })}
      {beginning.length > 0 && (
        <section class="person" aria-labelledby="beginning">
          <header>
            <h2 id="beginning">
              IDs that start with “<Id text={text} />”
            </h2>
            <ListButton subjects={foundSubjects(beginning)} />
          </header>
          <p class="muted">These may be different people. To erase one, open its page.</p>
          <Groups of={beginning} isNested />
        </section>
      )}
    </>
  )
}

/** What identifies a person that was found. */
function byWhat({ identifier }: FoundPerson): string {
  return identifier ? `Identifier ${identifier.name}` : 'Data subject ID'
}

/** What to know before a person is erased. */
function Notes({ person }: { person: FoundPerson }) {
  const { subjects, hidden } = person
  return (
    <>
      {hidden.length > 0 && (
        <p class="note">
          Your plan hides {counted(hidden.length, 'data subject')} of this person. Hidden data is still
          stored, and an erasure request covers it.
        </p>
      )}
      {isForList(person) && (
        <p class="note offer">
          This ID is on more than {maxNamed} trackers. Erase it as a list.
          <ListButton subjects={[...subjects, ...hidden]} />
        </p>
      )}
    </>
  )
}

function isForList({ identifier, subjects, hidden }: FoundPerson): boolean {
  return identifier === null && subjects.length + hidden.length > maxNamed
}

function PersonLink({ person: { address } }: { person: FoundPerson }) {
  return (
    address && (
      <Link class="button plain" to={personPage(address)}>
        Open this person
      </Link>
    )
  )
}

/** Opens the form that erases a list, with the IDs that were found. */
function ListButton({ subjects }: { subjects: readonly Pick<FoundSubject, 'subjectId'>[] }) {
  const mayErase = useMay('desk')
  const ids = [...new Set(subjects.map(({ subjectId }) => subjectId))]
  function makeList(): void {
    setErasureList(ids)
    navigate('/console/requests/erase-list')
  }
  if (!mayErase) return null
  return (
    <Button onClick={makeList}>
      Erase a list with {ids.length === 1 ? 'this ID' : `these ${counted(ids.length, 'ID')}`}
    </Button>
  )
}

/** Filters the subjects of groups, and drops empty groups. */
function pick(groups: readonly FoundGroup[], isMeant: (subject: FoundSubject) => boolean): FoundGroup[] {
  return groups
    .map((group) => ({ ...group, subjects: group.subjects.filter(isMeant) }))
    .filter(({ subjects }) => subjects.length > 0)
}

function Groups({ of, isNested }: { of: FoundGroup[]; isNested: boolean }) {
  const Heading = isNested ? 'h3' : 'h2'
  return (
    <>
      {of.map(({ tracker, subjects }) => (
        <div key={tracker.id} class="found">
          <Heading>
            <Link to={`/console/trackers/${encodeURIComponent(tracker.id)}`}>{tracker.name}</Link>
          </Heading>
          <SubjectTable trackerId={tracker.id} subjects={subjects} />
        </div>
      ))}
    </>
  )
}

function NoResults({ text }: { text: string }) {
  return (
    <Empty icon="person" title="No results">
      <p>
        No data subject on any tracker matches “<Id text={text} />
        ”. {howTo} Values are case-sensitive, except e-mail addresses.
      </p>
    </Empty>
  )
}

const howTo =
  'Enter an e-mail address, another identifier such as 42 or userId=42, a data subject ID or the start of one.'

function summary({ groups, people }: FoundGroups): string {
  const count = foundSubjects(groups).length
  const hidden = countHidden(people)
  if (count === 0 && hidden === 0) return 'No results'
  const more = groups.some(({ hasMore }) => hasMore) ? ', and more' : ''
  const besides = hidden > 0 ? `, and ${counted(hidden, 'hidden data subject')}` : ''
  return `${counted(count, 'data subject')} on ${counted(groups.length, 'tracker')}${more}${besides}`
}
