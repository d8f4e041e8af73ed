import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { NameDialog } from '../components/dialog.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { For } from '../session.tsx'
import type { ApprovalRule, HiddenByPlan, OrganisationProfile, Settings } from '../types.ts'
import { ApprovalCard } from './approval-card.tsx'
import { ProfileCard, profilePath } from './profile-card.tsx'
import { approvalPath } from './request-approval.tsx'
import { SigningInCard } from './signing-in-card.tsx'

export function SettingsPage() {
  const settings = useResource<Settings>('/settings')
  const profile = useResource<OrganisationProfile>(profilePath)
  return (
    <Page title="Settings" intro="Your organisation, its plan and budgets, and the service.">
      <Loaded resource={settings} lines={10}>
        {(data) => (
          <Loaded resource={profile} lines={10}>
            {(own) => (
              <>
                <OrganisationCard settings={data} />
                <ProfileCard profile={own} />
                <For least="admin">
                  <SigningInCard />
                </For>
                <Approval />
                <Retention settings={data} />
                <Budgets settings={data} />
                <Service settings={data} />
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

function Approval() {
  const rule = useResource<ApprovalRule>(approvalPath)
  return (
    <Loaded resource={rule} lines={3}>
      {(data) => <ApprovalCard key={data.above} rule={data} />}
    </Loaded>
  )
}

function OrganisationCard({ settings: { organisation } }: { settings: Settings }) {
  const [isRenaming, setRenaming] = useState(false)
  const stop = () => setRenaming(false)
  return (
    <section class="card" aria-labelledby="organisation">
      <header>
        <h2 id="organisation">Organisation</h2>
        <For least="admin">
          <Button icon="edit" onClick={() => setRenaming(true)}>
            Rename
          </Button>
        </For>
      </header>
      <dl class="facts">
        <div>
          <dt>Name</dt>
          <dd>{organisation.name}</dd>
        </div>
        <div>
          <dt>ID</dt>
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
            showToast(`Renamed to “${name}”`)
            await Promise.all(['/settings', '/session', '/organisation'].map(refresh))
            stop()
          }}
          onClose={stop}
        />
      )}
    </section>
  )
}

function Retention({ settings: { organisation, windows, activityDays } }: { settings: Settings }) {
  const own = windows.find(({ plan }) => plan === organisation.plan)
  return (
    <section class="card" aria-labelledby="windows">
      <header>
        <h2 id="windows">Plan and retention</h2>
      </header>
      <p>
        The <strong>{organisation.plan}</strong> plan keeps visitor data for {counted(own?.days ?? 0, 'day')}.
        Activity is kept for {counted(activityDays, 'day')}, and daily totals are kept indefinitely.
      </p>
      <ul class="plans">
        {windows.map(({ plan, days }) => (
          <li key={plan}>
            <span class="strong">{plan}</span>
            <span>{counted(days, 'day')}</span>
            {plan === organisation.plan ? (
              <span class="muted">current plan</span>
            ) : (
              <HiddenByPlanPreview plan={plan} own={own?.days ?? 0} days={days} />
            )}
          </li>
        ))}
      </ul>
      <p class="muted">
        Your operator can change the plan with <code>lethe orgs set-plan</code>. A plan with a shorter
        retention hides data immediately and deletes it a day later.
      </p>
    </section>
  )
}

/** What another plan would hide, counted on request. */
function HiddenByPlanPreview({ plan, own, days }: { plan: string; own: number; days: number }) {
  const [isRequested, setRequested] = useState(false)
  const hidden = useResource<HiddenByPlan>(isRequested ? `/settings/hidden?plan=${plan}` : null)

  if (days >= own) return <span class="muted">hides no data</span>
  if (!isRequested) {
    return (
      <Button kind="quiet" label={`Preview the effect of ${plan}`} onClick={() => setRequested(true)}>
        Preview effect
      </Button>
    )
  }
  if (hidden.error) return <span role="alert">{hidden.error.message}</span>
  if (!hidden.data) return <span role="status">Counting…</span>
  const { subjects, hasMoreSubjects, atMost } = hidden.data
  return (
    <span role="status">
      Hides{' '}
      {hasMoreSubjects
        ? `${formatNumber(subjects)} or more data subjects`
        : counted(subjects, 'data subject')}
      , at most {counted(atMost.sessions, 'session')} and {counted(atMost.events, 'event')}
    </span>
  )
}

const budgetNames: Record<string, string> = {
  ip: 'Requests per IP address',
  key: 'Requests per key',
  erasure: 'Erasures per key',
  variables: 'Requests per variable token',
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
              {formatNumber(limit)} {lengths[windowSeconds] ?? `per ${formatNumber(windowSeconds)} seconds`}
            </dd>
          </div>
        ))}
        <div>
          <dt>Pace of members’ erasures</dt>
          <dd>about {formatNumber(batchesPerMinute)} erasures per minute</dd>
        </div>
      </dl>
    </section>
  )
}

const lengths: Record<number, string> = {
  1: 'per second',
  60: 'per minute',
  3600: 'per hour',
  86400: 'per day',
}

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
            {scrub.isDue ? ' (the next one is due)' : ''}
          </dd>
        </div>
        <div>
          <dt>Scrub effect</dt>
          <dd>
            {scrub.reachesEveryByte
              ? 'removes every byte of deleted data'
              : 'frees the space of deleted data'}
          </dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd>Lethe {version}</dd>
        </div>
      </dl>
      <p class="muted">
        Store size, sweeps and backups concern all organisations. Your operator can see them with{' '}
        <code>lethe status</code>.
      </p>
    </section>
  )
}
