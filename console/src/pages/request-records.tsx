import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { LoadError, Skeleton } from '../components/states.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Id } from '../components/values.tsx'
import { counted, Days } from '../components/when.tsx'
import { changeRequest } from '../requests.ts'
import { useFetched, useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { subjectAddress } from '../search.ts'
import { useMay } from '../session.tsx'
import type { Request, RequestRecord, RequestRecordList, SubjectRef, TrackerList } from '../types.ts'
import { ReasonDialog } from './request-dialogs.tsx'

/** What is held about the person: each record with its tracker. */
export function RequestRecords({ request }: { request: Request }) {
  const [excluding, setExcluding] = useState<RequestRecord | null>(null)
  return (
    <>
      <ul class="found-records">
        <RecordPage request={request} after={null} onExclude={setExcluding} />
      </ul>
      {excluding && (
        <ReasonDialog
          title="Exclude this record"
          action="Exclude the record"
          hint="For example: a device that several people share. It is kept with the request, so name nobody."
          onSave={async (reason) => {
            await changeRequest(request.requestId, 'exclude', { ...refOf(excluding), reason })
            showToast('Record excluded')
          }}
          onClose={() => setExcluding(null)}
        >
          <p>
            <code class="wrap">
              <Id text={excluding.subjectId} />
            </code>
          </p>
          <p>
            The record is neither exported nor erased by this request, and its data is kept. You can include
            it again while the request is open.
          </p>
        </ReasonDialog>
      )}
    </>
  )
}

function refOf({ trackerId, subjectId }: SubjectRef): SubjectRef {
  return { trackerId, subjectId }
}

interface RecordPageProps {
  request: Request
  /** The last record of the page before. */
  after: SubjectRef | null
  onExclude(record: RequestRecord): void
}

/** A page of the records, followed by the next one on demand. */
function RecordPage({ request, after, onExclude }: RecordPageProps) {
  const path = `/requests/${request.requestId}/records`
  const { data, error, reload } = useFetched(`${path}?${JSON.stringify(after)}`, () =>
    change<RequestRecordList>(path, after ? { after } : {}),
  )
  const [isMore, setMore] = useState(false)
  if (error) {
    return (
      <li>
        <LoadError error={error} onRetry={reload} />
      </li>
    )
  }
  if (!data) {
    return (
      <li>
        <Skeleton lines={3} label="Loading the records" />
      </li>
    )
  }
  const { records, next } = data
  return (
    <>
      {records.map((record) => (
        <Record key={subjectAddress(record)} {...{ request, record, onExclude }} />
      ))}
      {next &&
        (isMore ? (
          <RecordPage request={request} after={next} onExclude={onExclude} />
        ) : (
          <li>
            <Button onClick={() => setMore(true)}>Show more records</Button>
          </li>
        ))}
    </>
  )
}

interface RecordProps {
  request: Request
  record: RequestRecord
  onExclude(record: RequestRecord): void
}

function Record({ request, record, onExclude }: RecordProps) {
  const trackers = useResource<TrackerList>('/trackers')
  const { trackerId, subjectId, exclusion, isHidden } = record
  const tracker = trackers.data?.trackers.find(({ id }) => id === trackerId)?.name ?? trackerId
  const [isBusy, setBusy] = useState(false)
  const mayExclude = useMay('desk')
  function include(): void {
    setBusy(true)
    changeRequest(request.requestId, 'include', refOf(record))
      .then(() => showToast('Record included'), showFailure)
      .finally(() => setBusy(false))
  }
  return (
    <li class={exclusion ? 'found-record excluded' : 'found-record'}>
      <p>
        <span class="found-record-tracker">{tracker}</span>{' '}
        {isHidden ? (
          <code class="wrap">
            <Id text={subjectId} />
          </code>
        ) : (
          <Link to={subjectAddress(record)}>
            <code class="wrap">
              <Id text={subjectId} />
            </code>
          </Link>
        )}
      </p>
      <p class="muted">
        <RecordFacts kind={request.kind} record={record} />
      </p>
      {exclusion && (
        <p class="exclusion">
          <strong>Excluded</strong> by{' '}
          {exclusion.by.kind === 'command-line' ? 'the command line' : exclusion.by.name}: {exclusion.reason}
        </p>
      )}
      {request.state === 'open' && mayExclude && (
        <Button
          kind="quiet"
          isBusy={isBusy}
          label={`${exclusion ? 'Include' : 'Exclude'} ${subjectId} on ${tracker}`}
          onClick={exclusion ? include : () => onExclude(record)}
        >
          {exclusion ? 'Include' : 'Exclude'}
        </Button>
      )}
    </li>
  )
}

function RecordFacts({
  kind,
  record: { counts, firstSeenAt, lastSeenAt },
}: Pick<Request, 'kind'> & Pick<RecordProps, 'record'>) {
  if (!counts)
    return <>Hidden by your plan: it is {kind === 'erasure' && 'erased, too, and '}not part of the copy.</>
  return (
    <>
      {counted(counts.sessions, 'session')}, {counted(counts.events, 'event')} · seen{' '}
      <Days first={firstSeenAt} last={lastSeenAt} />
    </>
  )
}
