import { useId, useState } from 'preact/hooks'
import { ActorName } from '../parts/actor.tsx'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Page } from '../parts/page.tsx'
import { Pager, usePaging } from '../parts/pager.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { counted, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { textParam, useSearchParams } from '../search-params.ts'
import type { Activity, ActivityList } from '../types.ts'

const pageSize = 50

export function ActivityPage() {
  const [{ request: requestId }, filter] = useSearchParams({ request: textParam })
  const [typed, setTyped] = useState(requestId)
  const paging = usePaging()
  const id = useId()
  const parameters = new URLSearchParams({ limit: String(pageSize) })
  if (requestId !== '') parameters.set('requestId', requestId)
  if (paging.cursor !== null) parameters.set('cursor', paging.cursor)
  const activity = useResource<ActivityList>(`/activity?${parameters}`)
  function search(text: string): void {
    setTyped(text)
    filter({ request: text }, { push: true })
  }
  return (
    <Page
      title="Activity"
      intro="Who did what with keys, members and data subjects. It never names a data subject."
    >
      <div class="tools">
        <search>
          <form
            class="find"
            onSubmit={(event) => {
              event.preventDefault()
              search(typed.trim())
            }}
          >
            <div class="field search">
              <label for={id} class="visually-hidden">
                Request id
              </label>
              <Icon name="search" />
              <input
                id={id}
                type="search"
                class="code"
                placeholder="Request id"
                value={typed}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
            </div>
            <Button type="submit">Find</Button>
            {requestId !== '' && <Button onClick={() => search('')}>Show all</Button>}
          </form>
        </search>
      </div>
      <Loaded resource={activity} lines={10}>
        {({ entries, nextCursor }) =>
          entries.length === 0 ? (
            <Empty icon="activity" title={requestId === '' ? 'Nothing has happened yet' : 'Nothing found'}>
              <p>
                {requestId === ''
                  ? 'Keys that are made, members who sign in and data subjects that are erased show up here.'
                  : 'No request of this id changed anything here. The id must be exact.'}
              </p>
            </Empty>
          ) : (
            <>
              <ActivityTable entries={entries} />
              <Pager paging={paging} nextCursor={nextCursor} label="Pages of activity" />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function ActivityTable({ entries }: { entries: Activity[] }) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">Activity, newest first</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Who</th>
            <th scope="col">When</th>
            <th scope="col">Request id</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <th scope="row">
                <span class="strong">{titles[entry.kind] ?? entry.kind}</span>
                <Detail entry={entry} />
              </th>
              <td data-label="Who">
                <ActorName actor={entry.actor} />
              </td>
              <td data-label="When">
                <When at={entry.at} as="exact" />
              </td>
              <td data-label="Request id">
                {entry.requestId === null ? (
                  <span class="muted">none</span>
                ) : (
                  <code class="wrap small">{entry.requestId}</code>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const titles: Record<string, string> = {
  'key.created': 'Key created',
  'key.rotated': 'Key rotated',
  'key.revoked': 'Key revoked',
  'key.renamed': 'Key renamed',
  'organisation.renamed': 'Organisation renamed',
  'tracker.renamed': 'Tracker renamed',
  'subject.erased': 'Data subject erased',
  'subject.exported': 'Data subject exported',
  'batch.started': 'Batch started',
  'batch.paused': 'Batch paused',
  'batch.resumed': 'Batch resumed',
  'batch.stopped': 'Batch stopped',
  'batch.finished': 'Batch done',
  'tracker.created': 'Tracker created',
  'tracker.deleted': 'Tracker deleted',
  'organisation.plan-changed': 'Plan changed',
  'organisation.deleted': 'Organisation deleted',
  'member.invited': 'Member invited',
  'member.joined': 'Password set',
  'member.removed': 'Member removed',
  'member.signed-in': 'Signed in',
  'member.sign-in-failed': 'Sign-in failed',
  'member.signed-out': 'Signed out',
  'member.signed-out-everywhere': 'Signed out everywhere',
}

function Detail({ entry: { target, counts, ledgerIndex } }: { entry: Activity }) {
  if (target === null && counts === null) return null
  const deleted = counts && `${counted(counts.sessions, 'session')}, ${counted(counts.events, 'event')}`
  return (
    <span class="detail">
      {[target, deleted].filter(Boolean).join(' · ')}
      {ledgerIndex !== null && (
        <>
          {' · '}
          <Link to={`/console/erasures/${ledgerIndex}`}>Certificate {ledgerIndex}</Link>
        </>
      )}
    </span>
  )
}
