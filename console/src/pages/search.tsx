import { useState } from 'preact/hooks'
import { find, foundSubjects } from '../find.ts'
import { Button } from '../parts/button.tsx'
import { Id } from '../parts/id.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { counted } from '../parts/when.tsx'
import { useFetched } from '../resource.ts'
import { Link } from '../router.tsx'
import { useSought } from '../sought.ts'
import type { FoundGroup } from '../types.ts'
import { EraseDialog } from './erase-dialog.tsx'
import { SubjectTable } from './subject-table.tsx'

/** Nobody has so many; who asks for more than this asks the API. */
const mostFound = 1_000
/** More at once are a batch. */
const mostErased = 50

/** Whom somebody looks for, in all trackers of the organisation. */
export function SearchPage() {
  const text = useSought()
  const [isErasing, setErasing] = useState(false)
  const found = useFetched(text === '' ? null : `search ${text}`, () => find(text, mostFound))
  const subjects = foundSubjects(found.data ?? [])
  const canErase = subjects.length > 0 && subjects.length <= mostErased && !found.isLoading
  const title = text === '' ? 'Search' : text
  return (
    <Page
      title="Search"
      heading={<Id text={title} />}
      intro={<span role="status">{found.data && text !== '' ? summary(found.data) : ' '}</span>}
      actions={
        canErase && (
          <Button kind="danger" icon="trash" onClick={() => setErasing(true)}>
            {subjects.length === 1 ? 'Erase' : 'Erase everywhere'}
          </Button>
        )
      }
    >
      {text === '' ? (
        <Empty icon="search" title="Whom are you looking for?">
          <p>{howTo}</p>
        </Empty>
      ) : (
        <Loaded resource={found} lines={6}>
          {(groups) =>
            groups.length === 0 ? (
              <Nobody text={text} />
            ) : (
              <>
                {subjects.length > mostErased && (
                  <p class="note">
                    To erase more than {mostErased} at once, make <Link to="/console/batches">a batch</Link>.
                  </p>
                )}
                <Groups of={groups} />
              </>
            )
          }
        </Loaded>
      )}
      {isErasing && (
        <EraseDialog
          subjects={subjects}
          typing={{ what: 'what you looked for', text }}
          onClose={() => setErasing(false)}
        />
      )}
    </Page>
  )
}

function Groups({ of }: { of: FoundGroup[] }) {
  return (
    <>
      {of.map(({ tracker, subjects }) => (
        <section key={tracker.id} class="found" aria-labelledby={`found-${tracker.id}`}>
          <h2 id={`found-${tracker.id}`}>
            <Link to={`/console/trackers/${encodeURIComponent(tracker.id)}`}>{tracker.name}</Link>
          </h2>
          <SubjectTable trackerId={tracker.id} subjects={subjects} />
        </section>
      ))}
    </>
  )
}

function Nobody({ text }: { text: string }) {
  return (
    <Empty icon="person" title="Nobody found">
      <p>
        Nobody is known by “<Id text={text} />
        ”, on any tracker. {howTo} Small and capital letters count, but not in an address.
      </p>
    </Empty>
  )
}

const howTo =
  'Type an e-mail address, another identifier with its name, such as userId=42, or the id of a data subject or its beginning.'

function summary(groups: readonly FoundGroup[]): string {
  const count = foundSubjects(groups).length
  if (count === 0) return 'Nobody found'
  const more = groups.some(({ hasMore }) => hasMore) ? ', and more' : ''
  return `${counted(count, 'data subject')} on ${counted(groups.length, 'tracker')}${more}`
}
