import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { counted, formatNumber, When } from '../parts/when.tsx'
import { refresh, useResource } from '../resource.ts'
import type { HiddenByPlan, Settings } from '../types.ts'
import { NameDialog } from './name-dialog.tsx'

export function SettingsPage() {
  const settings = useResource<Settings>('/settings')
  return (
    <Page title="Settings" intro="How this organisation and the service around it are set up.">
      <Loaded resource={settings} lines={10}>
        {(data) => (
          <>
            <OrganisationCard settings={data} />
            <Windows settings={data} />
            <Budgets settings={data} />
            <Service settings={data} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function OrganisationCard({ settings: { organisation } }: { settings: Settings }) {
  const [isRenaming, setRenaming] = useState(false)
  const stop = () => setRenaming(false)
  return (
    <section class="card" aria-labelledby="organisation">
      <header>
        <h2 id="organisation">Organisation</h2>
        <Button icon="edit" onClick={() => setRenaming(true)}>
          Rename
        </Button>
      </header>
      <dl class="facts">
        <div>
          <dt>Name</dt>
          <dd>{organisation.name}</dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd>
            <code class="wrap">{organisation.id}</code>
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <When at={organisation.createdAt} as="day" />
          </dd>
        </div>
      </dl>
      {isRenaming && (
        <NameDialog
          title="Rename the organisation"
          action="Rename"
          name={organisation.name}
          onSave={async (name) => {
            await change('/organisation/rename', { name })
            tell(`Renamed to “${name}”`)
            await Promise.all([refresh('/settings'), refresh('/session')])
            stop()
          }}
          onClose={stop}
        />
      )}
    </section>
  )
}

function Windows({ settings: { organisation, windows, activityDays } }: { settings: Settings }) {
  const own = windows.find(({ plan }) => plan === organisation.plan)
  return (
    <section class="card" aria-labelledby="windows">
      <header>
        <h2 id="windows">Plan and windows</h2>
      </header>
      <p>
        The plan <strong>{organisation.plan}</strong> keeps visitors for {counted(own?.days ?? 0, 'day')}. The
        activity is kept for {counted(activityDays, 'day')}, daily totals for good.
      </p>
      <ul class="plans">
        {windows.map(({ plan, days }) => (
          <li key={plan}>
            <span class="strong">{plan}</span>
            <span>{counted(days, 'day')}</span>
            <Change plan={plan} own={own?.days ?? 0} days={days} />
          </li>
        ))}
      </ul>
      <p class="muted">
        Whoever operates the service changes the plan, with <code>lethe orgs set-plan</code>. A shorter window
        hides immediately, and deletes a day later.
      </p>
    </section>
  )
}

/** What another plan would change, asked for when somebody wants to know. */
function Change({ plan, own, days }: { plan: string; own: number; days: number }) {
  const [isAsked, setAsked] = useState(false)
  const hidden = useResource<HiddenByPlan>(isAsked ? `/settings/hidden?plan=${plan}` : null)
  if (days === own) return <span class="muted">as now</span>
  if (days > own) return <span class="muted">would hide nothing</span>
  if (!isAsked) {
    return (
      <Button kind="quiet" label={`What ${plan} would hide`} onClick={() => setAsked(true)}>
        What it would hide
      </Button>
    )
  }
  if (hidden.error) return <span role="alert">{hidden.error.message}</span>
  if (!hidden.data) return <span role="status">Counting…</span>
  const { subjects, hasMoreSubjects, atMost } = hidden.data
  return (
    <span role="status">
      {hasMoreSubjects
        ? `${formatNumber(subjects)} or more data subjects`
        : counted(subjects, 'data subject')}
      , at most {counted(atMost.sessions, 'session')} and {counted(atMost.events, 'event')}
    </span>
  )
}

const budgetNames: Record<string, string> = {
  ip: 'Requests of an address',
  key: 'Requests of a key',
  erasure: 'Erasures of a key, and of a member',
}

function Budgets({ settings: { budgets, batchesPerMinute } }: { settings: Settings }) {
  return (
    <section class="card" aria-labelledby="budgets">
      <header>
        <h2 id="budgets">Budgets</h2>
      </header>
      <dl class="facts">
        {budgets.map(({ name, limit, windowSeconds }) => (
          <div key={name}>
            <dt>{budgetNames[name] ?? name}</dt>
            <dd>
              {formatNumber(limit)} {lengths[windowSeconds] ?? `in ${formatNumber(windowSeconds)} s`}
            </dd>
          </div>
        ))}
        <div>
          <dt>Erasures of a batch</dt>
          <dd>about {formatNumber(batchesPerMinute)} a minute</dd>
        </div>
      </dl>
    </section>
  )
}

const lengths: Record<number, string> = { 1: 'a second', 60: 'a minute', 3600: 'an hour', 86400: 'a day' }

function Service({ settings: { engine, version, scrub } }: { settings: Settings }) {
  return (
    <section class="card" aria-labelledby="service">
      <header>
        <h2 id="service">Storage and version</h2>
      </header>
      <dl class="facts">
        <div>
          <dt>Store</dt>
          <dd>{engine}</dd>
        </div>
        <div>
          <dt>Last scrub</dt>
          <dd>
            <When at={scrub.lastAt} />
            {scrub.isDue ? ', and one is due' : ''}
          </dd>
        </div>
        <div>
          <dt>A scrub</dt>
          <dd>
            {scrub.reachesEveryByte
              ? 'leaves not one byte of what was deleted'
              : 'frees the room of what was deleted'}
          </dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd>Lethe {version}</dd>
        </div>
      </dl>
      <p class="muted">
        How large the store is, when it was swept and how it is backed up concerns every organisation in it:
        the operator sees it with <code>lethe status</code>.
      </p>
    </section>
  )
}
