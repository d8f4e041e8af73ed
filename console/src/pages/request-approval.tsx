import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { showToast } from '../components/toasts.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago, counted, formatNumber } from '../components/when.tsx'
import { useResource } from '../resource.ts'
import { useMay, useSession } from '../session.tsx'
import type { ApprovalRule, Request } from '../types.ts'

type Verdict = 'approve' | 'decline'

interface ApprovalProps {
  /** How many requests wait. */
  requests: number
  /** How many of them this member asked for: these can only be withdrawn. */
  own: number
  /** Who is erased if the others are approved. */
  people: string
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
      <Decide requests={1} own={isOwn ? 1 : 0} people={personWith(found)} onDecide={onDecide} />
    </section>
  )
}

/** As of now: the service searches again when it erases. */
function personWith({ subjects, sessions, events }: Request['found']): string {
  const data = `${counted(sessions, 'session')} and ${counted(events, 'event')}`
  return `one person (at present ${counted(subjects, 'record')} with ${data})`
}

/** The buttons of a member who may decide, or who asked. */
export function Decide({ requests, own, people, onDecide }: ApprovalProps) {
  const mayDecide = useMay('desk')
  const [dialog, setDialog] = useState<DecisionProps | null>(null)
  const others = requests - own
  const open = (verdict: Verdict) => {
    // The numbers are those that the member has seen, also if more erasures wait meanwhile.
    const count = verdict === 'approve' ? others : requests
    const isOwn = others === 0
    setDialog({ verdict, requests: count, isOwn, people, onDecide, onClose: () => setDialog(null) })
  }
  return (
    <>
      {(!mayDecide || own > 0) && (
        <p class="muted">
          {mayDecide && others > 0 && `You started ${formatNumber(own)} of them. `}
          Another desk member or admin can approve or decline {own > 1 ? 'them' : 'it'}.
        </p>
      )}
      {mayDecide && (
        <div class="actions">
          {others > 0 && (
            <Button kind="danger" icon="check" onClick={() => open('approve')}>
              Approve {erasuresOf(others)}
            </Button>
          )}
          <Button onClick={() => open('decline')}>{declineTitle(own, others)}</Button>
        </div>
      )}
      {dialog && <Decision {...dialog} />}
    </>
  )
}

function declineTitle(own: number, others: number): string {
  if (others === 0) return `Withdraw ${erasuresOf(own)}`
  return own === 0 ? 'Decline' : `Decline all ${formatNumber(own + others)}`
}

interface DecisionProps extends Omit<ApprovalProps, 'own'> {
  verdict: Verdict
  /** Whether this member asked for all of them. */
  isOwn: boolean
  onClose(): void
}

function Decision({ verdict, requests, isOwn, people, onDecide, onClose }: DecisionProps) {
  const [verb, done] = isOwn ? ['Withdraw', 'Withdrawn'] : ['Decline', 'Declined']
  const isOne = requests === 1
  const effect = isOwn
    ? `and can be started again`
    : `and ${isOne ? 'its history shows' : 'their histories show'} that you declined`
  return (
    <Confirm
      title={`${verdict === 'approve' ? 'Approve' : verb} ${erasuresOf(requests)}`}
      action={verdict === 'approve' ? 'Approve and erase' : verb}
      kind={verdict === 'approve' ? 'danger' : 'primary'}
      onConfirm={async () => {
        await onDecide(verdict, requests)
        showToast(verdict === 'approve' ? (isOne ? 'Erasure started' : 'Erasures started') : done)
        onClose()
      }}
      onClose={onClose}
    >
      <p>
        {verdict === 'approve'
          ? `This erases everything found about ${people} from all trackers, including data that your plan hides. This cannot be undone. The history names you and the member who started it.`
          : `Nothing is erased. The ${isOne ? 'request stays' : 'requests stay'} open, ${effect}.`}
      </p>
    </Confirm>
  )
}

function erasuresOf(requests: number): string {
  return requests === 1 ? 'the erasure' : counted(requests, 'erasure')
}
