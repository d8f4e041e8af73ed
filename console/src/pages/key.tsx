import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { Ago, When } from '../parts/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { IssuedKey, Key, KeyDetail } from '../types.ts'
import { ChangeKey } from './change-key.tsx'
import { KeyUse } from './key-use.tsx'
import { Warnings } from './key-warnings.tsx'
import { NameDialog } from './name-dialog.tsx'
import { ShownOnce } from './shown-once.tsx'

type Doing = 'rename' | 'rotate' | 'revoke' | IssuedKey | null

export function KeyPage({ keyId }: { keyId: string }) {
  const detail = useResource<KeyDetail>(`/keys/${encode(keyId)}`)
  const [doing, setDoing] = useState<Doing>(null)
  const stop = () => setDoing(null)
  const key = detail.data?.key
  async function rename(name: string): Promise<void> {
    await change(`/keys/${encode(keyId)}/rename`, { name })
    tell(`Renamed to “${name}”`)
    await refresh('/keys')
    stop()
  }
  return (
    <Page
      title={key?.name ?? 'API key'}
      within="API keys"
      above={{ to: '/console/keys', title: 'API keys' }}
      actions={
        key?.state === 'active' && (
          <>
            <Button onClick={() => setDoing('rename')}>Rename</Button>
            <Button onClick={() => setDoing('rotate')}>Rotate</Button>
            <Button kind="danger" onClick={() => setDoing('revoke')}>
              Revoke
            </Button>
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
        <ShownOnce issued={doing} verb="rotated" onClose={stop} />
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
