import { useEffect, useRef } from 'preact/hooks'
import { Page } from '../components/page.tsx'
import { LoadError, Loaded, MissingRequest } from '../components/states.tsx'
import { Badge } from '../components/values.tsx'
import { changeRequest, forgetPerson, isClosed, requestKinds, requestTitle } from '../requests.ts'
import { useResource } from '../resource.ts'
import type { RequestPage as RequestData } from '../types.ts'
import { RequestActions } from './request-actions.tsx'
import { RequestApproval } from './request-approval.tsx'
import { RequestFacts } from './request-facts.tsx'
import { RequestReplies } from './request-replies.tsx'
import { RequestStory } from './request-story.tsx'

/** How often a running request is fetched again, and one that waits for its budget. */
const pollIntervalMs = { running: 1_000, waiting: 10_000 }

/** A request and its story, from its arrival to the answer. */
export function RequestPage({ requestId }: { requestId: string }) {
  const resource = useResource<RequestData>(`/requests/${requestId}`, {
    pollMs: (data) => {
      if (data?.request.state !== 'running') return false
      return pollIntervalMs[data.request.resumesAt === null ? 'running' : 'waiting']
    },
  })
  const { data, error, reload } = resource
  const isOver = data !== null && isClosed(data.request)
  const wasOpen = useRef(false)
  // Also if the service or somebody else has closed it.
  useEffect(() => {
    if (isOver && wasOpen.current) forgetPerson(requestId)
    wasOpen.current = data !== null && !isOver
  }, [isOver, data === null])
  const request = data?.request
  return (
    <Page
      title={request ? requestTitle(request) : 'Request'}
      within="Requests"
      above={{ to: '/console/requests', title: 'Requests' }}
      intro={
        request && (
          <span class="request-intro">
            <span>{requestKinds[request.kind]} request</span> <Badge state={request.state} />
          </span>
        )
      }
      actions={data && <RequestActions page={data} />}
    >
      {error ? (
        <LoadError error={error} onRetry={reload} missing={<MissingRequest />} />
      ) : (
        <Loaded resource={resource} lines={12}>
          {(page) => (
            <div class="story request">
              <RequestFacts page={page} />
              <div class="request-main">
                <RequestApproval
                  request={page.request}
                  onDecide={(verdict) => changeRequest(requestId, verdict)}
                />
                <RequestStory page={page} />
                {page.request.state !== 'cancelled' && <RequestReplies page={page} />}
              </div>
            </div>
          )}
        </Loaded>
      )}
    </Page>
  )
}
