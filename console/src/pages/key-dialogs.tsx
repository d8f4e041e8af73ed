import { useId, useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { collectCommand, listCommand } from '../commands.ts'
import { Button } from '../components/button.tsx'
import { dayMs } from '../components/days.ts'
import { Dialog } from '../components/dialog.tsx'
import { CopyField, Failure, Field, Note } from '../components/field.tsx'
import { Loaded } from '../components/states.tsx'
import { invalid, useForm } from '../form.ts'
import { useResource } from '../resource.ts'
import type { Area, AreaList, IssuedKey, Key, TrackerList } from '../types.ts'
import { ChangeCredential, ShowCredential } from './credential-dialogs.tsx'

const expiries = [
  { value: '', title: 'Never' },
  { value: '30', title: 'In 30 days' },
  { value: '90', title: 'In 90 days' },
  { value: '365', title: 'In a year' },
  { value: 'date', title: 'On a specific date' },
]

export function CreateKey({ onCreated, onClose }: { onCreated(issued: IssuedKey): void; onClose(): void }) {
  const areas = useResource<AreaList>('/scopes')
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>([])
  const [expiry, setExpiry] = useState('')
  const [day, setDay] = useState('')
  const form = useForm('name', 'scope', ...(expiry === 'date' ? ['expiresAt' as const] : []))
  const expiryId = useId()
  const toggle = (scope: string) =>
    setScopes((all) => (all.includes(scope) ? all.filter((other) => other !== scope) : [...all, scope]))
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => {
          if (expiry === 'date' && day === '')
            throw invalid('expiresAt', 'Choose the last day on which the key works')
          onCreated(await change<IssuedKey>('/keys', { name, scopes, expiresAt: expiresAt(expiry, day) }))
        })}
      >
        <Field
          label="Name"
          value={name}
          onInput={setName}
          problem={form.fields.name}
          hint="For example “privacy desk” or “nightly export”."
          hasFocus
        />
        <Loaded resource={areas} lines={4}>
          {({ areas }) => (
            <Scopes areas={areas} chosen={scopes} onToggle={toggle} problem={form.fields.scope} />
          )}
        </Loaded>
        <div class="field">
          <label for={expiryId}>Expires</label>
          <select id={expiryId} value={expiry} onChange={(event) => setExpiry(event.currentTarget.value)}>
            {expiries.map(({ value, title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </div>
        {expiry === 'date' && (
          <Field
            label="Last day"
            type="date"
            value={day}
            onInput={setDay}
            problem={form.fields.expiresAt}
            hint="The key works until the end of this day in your time zone."
          />
        )}
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Create the key
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

interface ScopesProps {
  areas: Area[]
  chosen: string[]
  onToggle(scope: string): void
  problem: string | undefined
}

function Scopes({ areas, chosen, onToggle, problem }: ScopesProps) {
  const noteId = useId()
  const others = areas.filter(({ scopes }) => scopes.length === 0).map(({ area }) => titleOf(area))
  return (
    <div class="field">
      {areas
        .filter(({ scopes }) => scopes.length > 0)
        .map(({ area, scopes }) => (
          <fieldset key={area} class="scopes" aria-describedby={noteId}>
            <legend>{titleOf(area)}</legend>
            {scopes.map(({ scope, allows }) => (
              <label key={scope} class="scope">
                <input
                  type="checkbox"
                  checked={chosen.includes(scope)}
                  aria-invalid={problem !== undefined}
                  onChange={() => onToggle(scope)}
                />
                <span>
                  <code>{scope}</code>
                  <small>{allows}</small>
                </span>
              </label>
            ))}
          </fieldset>
        ))}
      <Note id={noteId} problem={problem} hint={`${others.join(', ')} have no scopes yet.`} />
    </div>
  )
}

function titleOf(area: string): string {
  const words = area === 'api-keys' ? 'API keys' : area.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** When a key expires; an invalid day is left for the server to refuse. */
function expiresAt(expiry: string, day: string): string | null {
  if (expiry === '') return null
  if (expiry !== 'date') return new Date(Date.now() + Number(expiry) * dayMs).toISOString()
  const midnight = new Date(`${day}T24:00:00`)
  return Number.isNaN(midnight.getTime()) ? 'no day' : midnight.toISOString()
}

interface ChangeKeyProps {
  what: 'rotate' | 'revoke'
  subject: Key
  onRotated(issued: IssuedKey): void
  onClose(): void
}

/** Confirms a rotation or a revocation. */
export function ChangeKey({ what, subject, onRotated, onClose }: ChangeKeyProps) {
  return (
    <ChangeCredential<IssuedKey>
      {...{ noun: 'key', what, subject, onRotated, onClose }}
      path={`/keys/${encode(subject.id)}`}
      list="/keys"
      rotationNote="Name, scopes and expiry do not change."
    />
  )
}

interface ShowKeyProps {
  issued: IssuedKey
  verb: string
  /** The tracker of the command; the first one without it. */
  trackerId?: string
  onClose(): void
}

/** Shows a key once, with a command to try it. */
export function ShowKey({ issued, verb, trackerId, onClose }: ShowKeyProps) {
  const trackers = useResource<TrackerList>(trackerId === undefined ? '/trackers' : null)
  const [openedAt] = useState(() => new Date())
  const { key, keyString } = issued
  const tracker = trackerId ?? trackers.data?.trackers[0]?.id ?? 'TRACKER'
  const isCollector = key.scopes.includes('analytics:collect') && !key.scopes.includes('analytics:view')
  return (
    <ShowCredential noun="key" title={`Key “${key.name}” ${verb}`} text={keyString} onClose={onClose}>
      <p class="label">{isCollector ? 'Send an event' : 'Try it'}</p>
      <CopyField
        label="Command"
        text={isCollector ? collectCommand(tracker, keyString, openedAt) : listCommand(tracker, keyString)}
      />
    </ShowCredential>
  )
}
