import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { showToast } from '../components/toasts.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago, counted } from '../components/when.tsx'
import { useResource } from '../resource.ts'
import { useMay, useSession } from '../session.tsx'
import type { ApprovalRule, Request } from '../types.ts'

type Verdict = 'approve' | 'decline'

interface ApprovalProps {
  /** How many requests wait. */
  requests: number
  /** Who is erased if they are approved. */
  people: string
  /** Whether this member asked for all of them. */
  isOwn: boolean
  onDecide(verdict: Verdict, requests: number): Promise<unknown>
}

export const approvalPath = '/organisation/approval'

/** When an erasure will wait for another member, before it starts. */
export function ApprovalHint() {
  const { data } = useResource<ApprovalRule>(approvalPath)
  if (!data || data.above === null) return null
  return (
    <p>
      If you erase more than {counted(data.above, 'person', 'people')} within 24 hours, another member has to
      approve it first.
    </p>
  )
}

/** That an erasure waits for another member, who decides here. */
export function RequestApproval({
  request,
  onDecide,
}: { request: Request } & Pick<ApprovalProps, 'onDecide'>) {
  const { member } = useSession()
  const { approval, found } = request
  if (!approval) return null
  const isOwn = approval.askedBy.kind === 'member' && approval.askedBy.id === member.id
  return (
    <section class="card approval" aria-label="Approval">
      <p>
        <Icon name="clock" /> <strong>Waiting for approval by another member.</strong>{' '}
        <ActorName actor={approval.askedBy} /> started this erasure <Ago at={approval.askedAt} />.
      </p>
      <Decide requests={1} people={personWith(found)} isOwn={isOwn} onDecide={onDecide} />
    </section>
  )
}

/** As of now: the service searches again when it erases. */
function personWith({ subjects, sessions, events }: Request['found']): string {
  const data = `${counted(sessions, 'session')} and ${counted(events, 'event')}`
  return `one person (at present ${counted(subjects, 'record')} with ${data})`
}

/** The buttons of a member who may decide. */
export function Decide({ requests, people, isOwn, onDecide }: ApprovalProps) {
  const mayDecide = useMay('desk')
  const [dialog, setDialog] = useState<DecisionProps | null>(null)
  if (!mayDecide || isOwn) return <p class="muted">Another desk member or admin can approve or decline it.</p>
  // The numbers are those that the member has seen, also if more erasures wait meanwhile.
  const open = (verdict: Verdict) =>
    setDialog({ verdict, requests, people, onDecide, onClose: () => setDialog(null) })
  return (
    <div class="actions">
      <Button kind="danger" icon="check" onClick={() => open('approve')}>
        Approve {erasuresOf(requests)}
      </Button>
      <Button onClick={() => open('decline')}>Decline</Button>
      {dialog && <Decision {...dialog} />}
    </div>
  )
}

interface DecisionProps extends Omit<ApprovalProps, 'isOwn'> {
  verdict: Verdict
  onClose(): void
}

function Decision({ verdict, requests, people, onDecide, onClose }: DecisionProps) {
  const what = erasuresOf(requests)
  return (
    <Confirm
      title={verdict === 'approve' ? `Approve ${what}` : `Decline ${what}`}
      action={verdict === 'approve' ? 'Approve and erase' : 'Decline'}
      kind={verdict === 'approve' ? 'danger' : 'primary'}
      onConfirm={async () => {
        await onDecide(verdict, requests)
        showToast(verdict === 'approve' ? 'Erasure started' : 'Declined')
        onClose()
      }}
      onClose={onClose}
    >
      <p>
        {verdict === 'approve'
          ? `This erases everything found about ${people} from all trackers, including data that your plan hides. This cannot be undone. The history names you and the member who started it.`
          : 'Nothing is erased. The request stays open, and its history shows that you declined.'}
      </p>
    </Confirm>
  )
}

function erasuresOf(requests: number): string {
  return requests === 1 ? 'the erasure' : counted(requests, 'erasure')
}
