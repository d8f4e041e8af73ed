import { useMemo, useState } from 'preact/hooks'
import { encode, read } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Page } from '../components/page.tsx'
import { LoadError, Loaded } from '../components/states.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Id } from '../components/values.tsx'
import { personPage } from '../person.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { save } from '../save.ts'
import { dayParam, useSearchParams } from '../search-params.ts'
import { For, useSession } from '../session.tsx'
import type { ConsoleSubject, SubjectDays, TrackerList } from '../types.ts'
import { EraseDialog } from './erase-dialog.tsx'
import { SubjectFacts } from './subject-facts.tsx'
import { DayStrip, Timeline } from './timeline.tsx'

/** A data subject: its identifiers, retention, sessions and events. */
export function SubjectPage({ trackerId, subjectId }: { trackerId: string; subjectId: string }) {
  const api = `/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`
  const [isErasing, setErasing] = useState(false)
  const records = useMemo(() => [{ trackerId, subjectId }], [trackerId, subjectId])
  const [{ day }, go] = useSearchParams({ day: dayParam })
  const record = useResource<ConsoleSubject>(api)
  const trackers = useResource<TrackerList>('/trackers')
  const days = useResource<SubjectDays>(record.data && `${api}/days`)
  const { retentionDays } = useSession().organisation
  const trackerName = trackers.data?.trackers.find(({ id }) => id === trackerId)?.name ?? trackerId
  const above = { to: `/console/trackers/${encode(trackerId)}`, title: trackerName }
  const [isDownloading, setDownloading] = useState(false)
  async function download(): Promise<void> {
    setDownloading(true)
    try {
      // Browsers do not report a refused download, so reads come first.
      await read('/verification')
      await read(api)
      save(`/console/api${api}/export`)
      showToast('Export started')
    } catch (error) {
      showFailure(error)
    } finally {
      setDownloading(false)
    }
  }
  const actions = (
    <For least="desk">
      <Button icon="download" isBusy={isDownloading} onClick={download}>
        Download export
      </Button>
      <Button kind="danger" icon="trash" onClick={() => setErasing(true)}>
        Erase data
      </Button>
    </For>
  )
  return (
    <Page
      title={subjectId}
      heading={<Id text={subjectId} />}
      within={trackerName}
      isCode
      intro={
        <>
          Data subject on <Link to={above.to}>{trackerName}</Link>
          {record.data && (
            <>
              {' · '}
              <Link to={personPage(record.data.personAddress)}>All data of this person</Link>
            </>
          )}
        </>
      }
      {...{ above }}
      actions={record.data && actions}
    >
      <Loaded resource={record} lines={8}>
        {(subject) => (
          <div class="story">
            <SubjectFacts {...{ subject, retentionDays, trackerName }} />
            <section aria-labelledby="story">
              <h2 id="story" class="section-title">
                Sessions and events
              </h2>
              {days.error ? (
                <LoadError error={days.error} onRetry={days.reload} />
              ) : days.data ? (
                <DayStrip
                  {...{ days: days.data, retentionDays }}
                  today={new Date().toISOString().slice(0, 10)}
                  chosen={day}
                  onChoose={(chosen) => go({ day: chosen })}
                />
              ) : (
                <div class="strip waiting" role="status" aria-label="Loading days" />
              )}
              <Timeline key={day} {...{ records, day }} />
            </section>
          </div>
        )}
      </Loaded>
      {isErasing && record.data && (
        <EraseDialog
          record={{ trackerId, subjectId }}
          {...{ trackerName }}
          personAddress={record.data.personAddress}
          onClose={() => setErasing(false)}
        />
      )}
    </Page>
  )
}
