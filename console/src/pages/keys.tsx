import { useState } from 'preact/hooks'
import { encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { dayMs } from '../components/days.ts'
import { Page } from '../components/page.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { Badge } from '../components/values.tsx'
import { Ago } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { flagParam, useSearchParams } from '../search-params.ts'
import { useMay } from '../session.tsx'
import type { IssuedKey, Key, KeyList } from '../types.ts'
import { CredentialActions } from './credential-dialogs.tsx'
import { ChangeKey, CreateKey, ShowKey } from './key-dialogs.tsx'

type Doing = { what: 'rotate' | 'revoke'; key: Key } | { what: 'show'; issued: IssuedKey; verb: string }

export function KeysPage() {
  const keys = useResource<KeyList>('/keys')
  const [doing, setDoing] = useState<Doing | null>(null)
  const [{ create: isCreating }, setParams] = useSearchParams({ create: flagParam })
  const setCreating = (create: boolean) => setParams({ create })
  const stop = () => setDoing(null)
  const show = (issued: IssuedKey, verb: string) => {
    void refresh('/keys')
    setDoing({ what: 'show', issued, verb })
  }
  const mayManage = useMay('admin')
  const create = mayManage && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      Create a key
    </Button>
  )
  return (
    <Page
      title="API keys"
      intro="An API key lets your server call the API. Create one key per integration, with only the scopes it needs."
      actions={create}
    >
      <Loaded resource={keys}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty icon="keys" title="No keys yet">
              <p>
                {mayManage
                  ? 'Create one to call the API from a server or a script.'
                  : 'An admin can create one.'}
              </p>
              {create}
            </Empty>
          ) : (
            <KeyTable keys={keys} onDo={(what, key) => setDoing({ what, key })} />
          )
        }
      </Loaded>
      {mayManage && isCreating && (
        <CreateKey
          onCreated={(issued) => {
            setCreating(false)
            show(issued, 'created')
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {doing?.what === 'show' && <ShowKey issued={doing.issued} verb={doing.verb} onClose={stop} />}
      {(doing?.what === 'rotate' || doing?.what === 'revoke') && (
        <ChangeKey
          what={doing.what}
          subject={doing.key}
          onRotated={(issued) => show(issued, 'rotated')}
          onClose={stop}
        />
      )}
    </Page>
  )
}

function KeyTable({ keys, onDo }: { keys: Key[]; onDo(what: 'rotate' | 'revoke', key: Key): void }) {
  return (
    <Table
      caption="API keys, newest first"
      columns={['Name', 'State', 'Scopes', 'Created', 'Last used', 'Expires']}
      hasActions
      tableClass="keys"
    >
      {keys.map((key) => (
        <tr key={key.id} class={key.state === 'active' ? undefined : 'over'}>
          <th scope="row">
            <Link to={`/console/keys/${encode(key.id)}`} class="strong">
              {key.name}
            </Link>
            <code class="muted">…{key.lastFour}</code>
            <Warnings subject={key} />
          </th>
          <td data-label="State">
            <Badge state={key.state} />
          </td>
          <td data-label="Scopes">
            <ul class="chips">
              {key.scopes.map((scope) => (
                <li key={scope}>
                  <code>{scope}</code>
                </li>
              ))}
            </ul>
          </td>
          <td data-label="Created">
            <Ago at={key.createdAt} />
          </td>
          <td data-label="Last used">
            <Ago at={key.lastUsedAt} />
          </td>
          <td data-label="Expires">
            <Ago at={key.expiresAt} />
          </td>
          <CredentialActions subject={key} onDo={(what) => onDo(what, key)} />
        </tr>
      ))}
    </Table>
  )
}

const soonDays = 14
const unusedDays = 90

/** Warnings: a key expires soon, or has not been used for long. */
function warningsOf(key: Key, now = Date.now()): string[] {
  if (key.state !== 'active') return []
  const daysUntil = key.expiresAt === null ? null : (Date.parse(key.expiresAt) - now) / dayMs
  const idleDays = (now - Date.parse(key.lastUsedAt ?? key.rotatedAt ?? key.createdAt)) / dayMs
  const warnings: string[] = []
  if (daysUntil !== null && daysUntil <= soonDays) {
    const days = Math.ceil(daysUntil)
    warnings.push(days <= 1 ? 'expires within a day' : `expires in ${days} days`)
  }
  if (idleDays >= unusedDays)
    warnings.push(key.lastUsedAt === null ? 'never used' : `unused for ${Math.floor(idleDays)} days`)
  return warnings
}

export function Warnings({ subject }: { subject: Key }) {
  return (
    <>
      {warningsOf(subject).map((warning) => (
        <span key={warning} class="badge expired">
          {warning}
        </span>
      ))}
    </>
  )
}
