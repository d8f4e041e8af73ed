import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { DayChart } from '../components/day-chart.tsx'
import { toBins } from '../components/days.ts'
import { NameDialog } from '../components/dialog.tsx'
import { Menu } from '../components/menu.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { Badge, Figures } from '../components/values.tsx'
import { Ago, counted, formatNumber, When } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { useMay } from '../session.tsx'
import type { IssuedKey, Key, KeyDetail } from '../types.ts'
import { ChangeKey, ShowKey } from './key-dialogs.tsx'
import { Warnings } from './keys.tsx'

type Doing = 'rename' | 'rotate' | 'revoke' | IssuedKey | null

export function KeyPage({ keyId }: { keyId: string }) {
  const detail = useResource<KeyDetail>(`/keys/${encode(keyId)}`)
  const [doing, setDoing] = useState<Doing>(null)
  const stop = () => setDoing(null)
  const mayManage = useMay('admin')
  const key = detail.data?.key
  async function rename(name: string): Promise<void> {
    await change(`/keys/${encode(keyId)}/rename`, { name })
    showToast(`Renamed to “${name}”`)
    await refresh('/keys')
    stop()
  }
  return (
    <Page
      title={key?.name ?? 'API key'}
      within="API keys"
      above={{ to: '/console/keys', title: 'API keys' }}
      actions={
        mayManage &&
        key?.state === 'active' && (
          <>
            <Button onClick={() => setDoing('rotate')}>Rotate</Button>
            <Menu
              label={`Actions for ${key.name}`}
              items={[
                { title: 'Rename', icon: 'edit', onChoose: () => setDoing('rename') },
                { title: 'Revoke', icon: 'trash', isRisky: true, onChoose: () => setDoing('revoke') },
              ]}
            />
          </>
        )
      }
    >
      <Loaded resource={detail} lines={8}>
        {(detail) => (
          <>
            <Facts subject={detail.key} />
            <section class="card" aria-labelledby="scopes">
              <header>
                <h2 id="scopes">Scopes</h2>
              </header>
              <ul class="allowed">
                {detail.scopes.map(({ scope, allows }) => (
                  <li key={scope}>
                    {allows} <code class="muted">{scope}</code>
                  </li>
                ))}
              </ul>
            </section>
            <KeyUse detail={detail} />
          </>
        )}
      </Loaded>
      {key && doing === 'rename' && (
        <NameDialog title="Rename the key" action="Rename" name={key.name} onSave={rename} onClose={stop} />
      )}
      {key && (doing === 'rotate' || doing === 'revoke') && (
        <ChangeKey
          what={doing}
          subject={key}
          onRotated={(issued) => {
            void refresh('/keys')
            setDoing(issued)
          }}
          onClose={stop}
        />
      )}
      {doing !== null && typeof doing === 'object' && (
        <ShowKey issued={doing} verb="rotated" onClose={stop} />
      )}
    </Page>
  )
}

function Facts({ subject: key }: { subject: Key }) {
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">Details</h2>
        <span class="badges">
          <Badge state={key.state} />
          <Warnings subject={key} />
        </span>
      </header>
      <dl class="facts">
        <div>
          <dt>Last used</dt>
          <dd>
            <Ago at={key.lastUsedAt} />
          </dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>
            <When at={key.expiresAt} />
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <When at={key.createdAt} />
          </dd>
        </div>
        <div>
          <dt>Rotated</dt>
          <dd>
            <When at={key.rotatedAt} />
          </dd>
        </div>
        <div>
          <dt>Ends in</dt>
          <dd>
            <code>{key.lastFour}</code>
          </dd>
        </div>
        <div>
          <dt>Activity</dt>
          <dd>
            <Link to={`/console/activity?who=${encode(key.id)}`}>Activity of this key</Link>
          </dd>
        </div>
      </dl>
    </section>
  )
}

const shownDays = 90

/** Requests and refusals of a key by day. */
function KeyUse({ detail: { today, days } }: { detail: KeyDetail }) {
  const sum = (measure: 'requests' | 'refusals') => days.reduce((total, day) => total + day[measure], 0)
  const [requests, refusals] = [sum('requests'), sum('refusals')]
  return (
    <section class="card" aria-labelledby="use">
      <header>
        <h2 id="use">Usage in the last {shownDays} days</h2>
      </header>
      <Figures
        of={[
          ['Requests', requests],
          ['Refused', refusals],
        ]}
      />
      {requests === 0 ? (
        <p class="muted">No requests in this period.</p>
      ) : (
        <>
          <DayChart
            today={today}
            bins={toBins(
              days.map(({ day, requests, refusals }) => ({ day, value: requests, part: refusals })),
              today,
              shownDays,
            )}
            label={`${counted(requests, 'request')}, of which ${formatNumber(refusals)} refused`}
            words={(value, part) => `${counted(value, 'request')}, ${formatNumber(part)} refused`}
          />
          <p class="muted">
            Dates are in UTC. Refused requests lacked a scope (403) or exceeded a budget of the key or of the
            address they came from (429).
          </p>
        </>
      )}
    </section>
  )
}
