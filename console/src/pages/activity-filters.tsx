import { useId, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { formatNumber } from '../components/when.tsx'
import { useResource } from '../resource.ts'
import { textParam, useSearchParams } from '../search-params.ts'
import type { ActivityGroup, KeyList, MemberList } from '../types.ts'

/** The title of each kind of activity. */
export const titles: Record<string, string> = {
  'key.created': 'Key created',
  'key.rotated': 'Key rotated',
  'key.revoked': 'Key revoked',
  'key.renamed': 'Key renamed',
  'organisation.renamed': 'Organisation renamed',
  'organisation.profile-changed': 'Organisation profile changed',
  'organisation.approval-changed': 'Rule for approvals changed',
  'reply-text.changed': 'Reply text changed',
  'reply-text.restored': 'Default reply text restored',
  'tracker.renamed': 'Tracker renamed',
  'variables.changed': 'Variables changed',
  'variable-token.created': 'Variable token created',
  'variable-token.rotated': 'Variable token rotated',
  'variable-token.revoked': 'Variable token revoked',
  'subject.erased': 'Data subject erased',
  'subject.exported': 'Data subject exported',
  'batch.started': 'Batch started',
  'batch.paused': 'Batch paused',
  'batch.resumed': 'Batch resumed',
  'batch.stopped': 'Batch stopped',
  'batch.finished': 'Batch finished',
  'request.created': 'Request created',
  'request.extended': 'Request extended',
  'request.rejected': 'Request rejected',
  'request.cancelled': 'Request cancelled',
  'request.closed': 'Request closed',
  'request.approval-asked': 'Approval asked for',
  'request.approved': 'Erasure approved',
  'request.declined': 'Erasure declined',
  'request.started': 'Request started',
  'request.finished': 'Request finished',
  'request.exported': 'Request exported',
  'request.assigned': 'Request assigned',
  'request.note-added': 'Note added to a request',
  'request.note-deleted': 'Note of a request deleted',
  'request.record-excluded': 'Record excluded from a request',
  'request.record-included': 'Record included in a request again',
  'request-group.exported': 'Requests with one reference exported',
  'request-report.exported': 'Request report exported',
  'activity.exported': 'Activity exported',
  'tracker.created': 'Tracker created',
  'tracker.deleted': 'Tracker deleted',
  'organisation.plan-changed': 'Plan changed',
  'organisation.deleted': 'Organisation deleted',
  'member.invited': 'Member invited',
  'member.joined': 'Joined',
  'member.connected': 'Connected by single sign-on',
  'member.disconnected': 'Single sign-on disconnected',
  'member.link-created': 'Link for a new password created',
  'member.role-changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.signed-in': 'Signed in',
  'member.sign-in-failed': 'Sign-in failed',
  'member.signed-out': 'Signed out',
  'member.signed-out-everywhere': 'Signed out everywhere',
  'member.signed-out-elsewhere': 'Signed out elsewhere',
  'member.language-changed': 'Language changed',
  'member.verified': 'Identity confirmed',
  'member.verification-failed': 'Confirmation of identity failed',
  'member.password-changed': 'Password changed',
  'member.passkey-added': 'Passkey added',
  'member.passkey-renamed': 'Passkey renamed',
  'member.passkey-removed': 'Passkey removed',
  'member.passkey-refused': 'Copied passkey refused',
  'member.totp-set': 'Authenticator app set up',
  'member.totp-removed': 'Authenticator app removed',
  'member.recovery-codes-created': 'Recovery codes created',
  'member.factors-removed': 'Second factors removed',
  'sign-in-rules.changed': 'Rules for signing in changed',
}

/** The title of a group: its erasures or exports with the other kinds apart, or all kinds, oldest first. */
export function titleOf({ kinds }: ActivityGroup): { title: string; others: string[] } {
  const main = kinds.find(({ kind }) => kind === 'subject.erased' || kind === 'subject.exported')
  const others = kinds
    .filter((each) => each !== main)
    .map(titleOfMany)
    .toReversed()
  return main ? { title: titleOfMany(main), others } : { title: others.join(' · '), others: [] }
}

type CountedKind = ActivityGroup['kinds'][number]

function titleOfMany({ kind, count }: CountedKind): string {
  const title = titles[kind] ?? kind
  if (count === 1) return title
  const number = formatNumber(count)
  return title.startsWith('Data subject ')
    ? title.replace('Data subject', `${number} data subjects`)
    : `${title} × ${number}`
}

const params = { request: textParam, kind: textParam, who: textParam, day: textParam }

/** The filters in the URL. */
type ActivityFilters = Record<keyof typeof params, string>

export function useActivityFilters() {
  return useSearchParams<ActivityFilters>(params)
}

/** The filters as query parameters. A day is in the reader's time zone. */
export function toParameters({ request, kind, who, day }: ActivityFilters): URLSearchParams {
  const parameters = new URLSearchParams()
  if (request !== '') parameters.set('requestId', request)
  if (kind !== '') parameters.set('kind', kind)
  if (who !== '') parameters.set('actor', who)
  const [midnight, next] = [new Date(`${day}T00:00:00`), new Date(`${day}T24:00:00`)]
  if (!Number.isNaN(midnight.getTime()) && !Number.isNaN(next.getTime())) {
    parameters.set('since', midnight.toISOString())
    parameters.set('until', next.toISOString())
  }
  return parameters
}

interface FiltersProps {
  filters: ActivityFilters
  onChange(changes: Partial<ActivityFilters>): void
}

export function Filters({ filters, onChange }: FiltersProps) {
  const [typed, setTyped] = useState(filters.request)
  const [requestId, dayId] = [useId(), useId()]
  const isNarrow = Object.values(filters).some((value) => value !== '')
  return (
    <search class="filters">
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault()
          onChange({ request: typed.trim() })
        }}
      >
        <KindField value={filters.kind} onChange={(kind) => onChange({ kind })} />
        <WhoField value={filters.who} onChange={(who) => onChange({ who })} />
        <div class="field">
          <label for={dayId}>Day</label>
          <input
            id={dayId}
            type="date"
            value={filters.day}
            onChange={(event) => onChange({ day: event.currentTarget.value })}
          />
        </div>
        <div class="field">
          <label for={requestId}>Request ID</label>
          <div class="field search">
            <Icon name="search" />
            <input
              id={requestId}
              type="search"
              class="code"
              value={typed}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        </div>
        <div class="filter-buttons">
          <Button type="submit">Apply filters</Button>
          {isNarrow && (
            <Button
              onClick={() => {
                setTyped('')
                onChange({ request: '', kind: '', who: '', day: '' })
              }}
            >
              Clear filters
            </Button>
          )}
        </div>
      </form>
    </search>
  )
}

interface SelectProps {
  value: string
  onChange(value: string): void
}

function KindField({ value, onChange }: SelectProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Action</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All actions</option>
        {Object.entries(titles).map(([kind, title]) => (
          <option key={kind} value={kind}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Current members and keys, and a former one if the URL names it. */
function WhoField({ value, onChange }: SelectProps) {
  const id = useId()
  const members = useResource<MemberList>('/members').data?.members ?? []
  const keys = useResource<KeyList>('/keys').data?.keys ?? []
  const known = new Set([...members, ...keys].map((each) => each.id))
  return (
    <div class="field">
      <label for={id}>Actor</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All actors</option>
        <option value="command-line">Command line</option>
        {value !== '' && value !== 'command-line' && !known.has(value) && (
          <option value={value}>{value}</option>
        )}
        <optgroup label="Members">
          {members.map((member) => (
            <option key={member.id} value={member.id}>
              {member.email}
            </option>
          ))}
        </optgroup>
        <optgroup label="API keys">
          {keys.map((key) => (
            <option key={key.id} value={key.id}>
              {key.name}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  )
}
