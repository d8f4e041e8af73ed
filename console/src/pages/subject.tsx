import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { counted, formatNumber, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { Erasure, Subject as SubjectRecord } from '../types.ts'
import { Attributes } from './attributes.tsx'
import { VisitList } from './visit-list.tsx'

export function SubjectPage({ trackerId, subjectId }: { trackerId: string; subjectId: string }) {
  const api = `/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`
  const [erasure, setErasure] = useState<Erasure | null>(null)
  const [isErasing, setErasing] = useState(false)
  const record = useResource<SubjectRecord>(erasure === null ? api : null)
  const above = { to: `/console/trackers/${encode(trackerId)}`, title: 'Data subjects' }
  if (erasure) return <Erased {...{ erasure, above }} />
  const actions = (
    <>
      <a class="button plain" href={`/console/api${api}/export`} download>
        <Icon name="download" /> <span>Download an export</span>
      </a>
      <Button kind="danger" icon="trash" onClick={() => setErasing(true)}>
        Erase
      </Button>
    </>
  )
  return (
    <Page title={subjectId} isCode intro="Data subject" {...{ above }} actions={record.data && actions}>
      <Loaded resource={record} lines={8}>
        {({ firstSeenAt, lastSeenAt, counts, identifiers, attributes }) => (
          <>
            <section class="card" aria-labelledby="record">
              <header>
                <h2 id="record">Record</h2>
              </header>
              <dl class="figures">
                <div>
                  <dt>Sessions</dt>
                  <dd class="figure">{formatNumber(counts.sessions)}</dd>
                </div>
                <div>
                  <dt>Events</dt>
                  <dd class="figure">{formatNumber(counts.events)}</dd>
                </div>
                <div>
                  <dt>First seen</dt>
                  <dd>
                    <When at={firstSeenAt} />
                  </dd>
                </div>
                <div>
                  <dt>Last seen</dt>
                  <dd>
                    <When at={lastSeenAt} />
                  </dd>
                </div>
              </dl>
              {identifiers.length > 0 && <Attributes of={byName(identifiers)} none="" />}
              <Attributes of={attributes} none="Nothing is known as of the newest session." />
            </section>
            <VisitList api={api} />
          </>
        )}
      </Loaded>
      {isErasing && (
        <Confirm
          title="Erase this data subject"
          action="Erase for good"
          kind="danger"
          typing={{ what: 'id', text: subjectId, field: 'subjectId' }}
          onConfirm={async (typed) => setErasure(await change<Erasure>(`${api}/erase`, { subjectId: typed }))}
          onClose={() => setErasing(false)}
        >
          <p>
            All that is stored about this data subject is deleted, sessions and events included. It cannot be
            undone. Daily totals stay: they lead to nobody.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

function Erased({ erasure, above }: { erasure: Erasure; above: { to: string; title: string } }) {
  const { counts, alreadyErased, erasedAt, receipt } = erasure
  return (
    <Page title="Erased" {...{ above }}>
      <Empty
        icon="check"
        title={alreadyErased ? 'There was nothing left' : 'Nothing of this data subject is left'}
      >
        <p>
          {alreadyErased
            ? 'It held no data any more: erased before, or aged out.'
            : `Deleted: ${counted(counts.sessions, 'session')} and ${counted(counts.events, 'event')}.`}
        </p>
        <p class="muted">
          <When at={erasedAt} as="exact" />
        </p>
        <p>
          <a
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(receipt)}`}
            download="erasure-receipt.txt"
          >
            Download the receipt
          </a>
        </p>
        <p>
          <Link to={above.to}>Back to the data subjects</Link>
        </p>
      </Empty>
    </Page>
  )
}

/** What a subject is known by, a line for each name. */
function byName(identifiers: SubjectRecord['identifiers']): Record<string, string> {
  const lines: Record<string, string> = {}
  for (const { name, value } of identifiers) {
    const [key, before] = [`known by ${name}`, lines[`known by ${name}`]]
    lines[key] = before === undefined ? value : `${before}, ${value}`
  }
  return lines
}
