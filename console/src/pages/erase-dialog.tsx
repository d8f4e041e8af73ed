import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { Confirm } from '../components/dialog.tsx'
import { LoadError, Skeleton } from '../components/states.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import { eraseRecord } from '../erasure.ts'
import { personKey, personPage } from '../person.ts'
import { newRequestId } from '../request-draft.ts'
import { useFetched } from '../resource.ts'
import { Link } from '../router.tsx'
import type { PersonRecords, SubjectRef } from '../types.ts'

interface EraseDialogProps {
  record: SubjectRef
  trackerName: string
  /** Of the page of the person it belongs to. */
  personAddress: string
  onClose(): void
}

/** Confirms the erasure of one record, and says what else exists about the person. */
export function EraseDialog({ record, trackerName, personAddress, onClose }: EraseDialogProps) {
  const person = { identifiers: [], subjects: [record] }
  const [requestId] = useState(newRequestId)
  const found = useFetched(personKey(JSON.stringify(record)), (_, signal) =>
    ask<PersonRecords>('/person', { person }, signal),
  )
  const counts = found.data?.records[0]?.counts
  const isHidden = found.data !== null && found.data.hidden.length > 0
  return (
    <Confirm
      title="Erase this record"
      action="Erase for good"
      kind="danger"
      typing={{ what: 'the ID', text: record.subjectId, field: 'subjects' }}
      isDisabled={!counts && !isHidden}
      onConfirm={() => eraseRecord(record, requestId)}
      onClose={onClose}
    >
      {found.error && <LoadError error={found.error} onRetry={found.reload} />}
      {!found.data && !found.error && <Skeleton lines={3} />}
      {counts && (
        <p>
          {counted(counts.sessions, 'session')} and {counted(counts.events, 'event')} are deleted from{' '}
          {trackerName}. Data that your plan hides is deleted, too.
        </p>
      )}
      {isHidden && (
        <p>Your plan hides this record. Its data is still stored, and is deleted from {trackerName}.</p>
      )}
      {found.data && !counts && !isHidden && <p>Nothing is stored in this record any more.</p>}
      {found.data && <Others of={found.data} personAddress={personAddress} />}
      <p>
        This cannot be undone. Daily totals are kept; they cannot be traced to a person. This creates an
        erasure request, which ends with a certificate. You can close its page; the service continues.
      </p>
    </Confirm>
  )
}

/** What else exists about the person, which stays. */
function Others({ of: { others }, personAddress }: { of: PersonRecords; personAddress: string }) {
  const ids = new Map<string, string>()
  const add = ({ trackerId, subjectId }: SubjectRef) => ids.set(`${trackerId}\0${subjectId}`, trackerId)
  for (const each of others.flatMap(({ subjects }) => subjects)) add(each)
  const visible = ids.size
  for (const each of others.flatMap(({ hidden }) => hidden)) add(each)
  const hidden = ids.size - visible
  if (ids.size === 0) return null
  const trackers = new Set(ids.values()).size
  const more = others.some(({ hasMore }) => hasMore) ? ' or more' : ''
  const names = others.map(({ identifier }) => identifier?.name ?? 'ID')
  return (
    <div class="others">
      <p>
        <strong>
          {formatNumber(ids.size)}
          {more} other {ids.size === 1 && more === '' ? 'record' : 'records'} in{' '}
          {counted(trackers, 'tracker')} {ids.size === 1 && more === '' ? 'stays' : 'stay'}.
        </strong>{' '}
        {ids.size === 1 ? 'It has' : 'They have'} the same {[...new Set(names)].join(' or ')}.
        {hidden > 0 && ` Your plan hides ${ids.size === 1 ? 'it' : `${formatNumber(hidden)} of them`}.`}
      </p>
      <p>
        <Link to={personPage(personAddress)}>Open this person</Link> to erase everything.
      </p>
    </div>
  )
}
