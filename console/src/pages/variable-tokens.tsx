import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { NameDialog } from '../components/dialog.tsx'
import { CopyField } from '../components/field.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { Badge } from '../components/values.tsx'
import { Ago } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { useMay } from '../session.tsx'
import type { IssuedToken, VariableToken, VariableTokenList } from '../types.ts'
import { ChangeCredential, CredentialActions, ShowCredential } from './credential-dialogs.tsx'

type Doing =
  | { what: 'create' }
  | { what: 'rotate' | 'revoke'; token: VariableToken }
  | { what: 'show'; issued: IssuedToken; verb: string }

/** The URL at which a token reads variables. The Variables API may have a port of its own. */
function variablesUrl({ tokenString, variablesPort }: IssuedToken): string {
  const { origin, protocol, hostname } = location
  const base = variablesPort === null ? origin : `${protocol}//${hostname}:${variablesPort}`
  return `${base}/v1/variables?token=${tokenString}`
}

/** The variable tokens of a tracker. */
export function VariableTokens({ trackerId }: { trackerId: string }) {
  const path = `/trackers/${encode(trackerId)}/variable-tokens`
  const tokens = useResource<VariableTokenList>(path)
  const [doing, setDoing] = useState<Doing | null>(null)
  const stop = () => setDoing(null)
  const show = (issued: IssuedToken, verb: string) => {
    void refresh(path)
    setDoing({ what: 'show', issued, verb })
  }
  const mayManage = useMay('admin')
  const create = mayManage && (
    <Button icon="plus" onClick={() => setDoing({ what: 'create' })}>
      Create a token
    </Button>
  )
  const isEmpty = tokens.data?.tokens.length === 0
  return (
    <section class="part" aria-labelledby="tokens">
      <header class="part-head">
        <div>
          <h2 id="tokens">Variable tokens</h2>
          <p class="muted">A token reads the variables of this tracker and nothing else.</p>
        </div>
        {!isEmpty && create}
      </header>
      <Loaded resource={tokens} lines={2}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <Empty icon="keys" title="No tokens yet">
              <p>
                {mayManage
                  ? 'Create one for each website, app or server that reads these variables.'
                  : 'An admin can create one.'}
              </p>
              {create}
            </Empty>
          ) : (
            <TokenTable tokens={tokens} onDo={(what, token) => setDoing({ what, token })} />
          )
        }
      </Loaded>
      {doing?.what === 'create' && (
        <NameDialog
          title="Create a variable token"
          action="Create the token"
          hint="Where it will be used, for example “web shop” or “iOS app”."
          onSave={async (name) => show(await change<IssuedToken>(path, { name }), 'created')}
          onClose={stop}
        />
      )}
      {doing?.what === 'show' && <ShowToken issued={doing.issued} verb={doing.verb} onClose={stop} />}
      {(doing?.what === 'rotate' || doing?.what === 'revoke') && (
        <ChangeCredential<IssuedToken>
          noun="token"
          what={doing.what}
          subject={doing.token}
          path={`/variable-tokens/${encode(doing.token.id)}`}
          list={path}
          rotationNote="To replace a token without downtime, create a second one, switch the clients, and revoke the first."
          onRotated={(issued) => show(issued, 'rotated')}
          onClose={stop}
        />
      )}
    </section>
  )
}

interface TokenTableProps {
  tokens: VariableToken[]
  onDo(what: 'rotate' | 'revoke', token: VariableToken): void
}

function TokenTable({ tokens, onDo }: TokenTableProps) {
  return (
    <Table
      caption="Variable tokens, newest first"
      columns={['Name', 'State', 'Created', 'Last used']}
      hasActions
    >
      {tokens.map((token) => (
        <tr key={token.id} class={token.state === 'active' ? undefined : 'over'}>
          <th scope="row">
            <span class="strong">{token.name}</span>
            <code class="muted">…{token.lastFour}</code>
          </th>
          <td data-label="State">
            <Badge state={token.state} />
          </td>
          <td data-label="Created">
            <Ago at={token.createdAt} />
          </td>
          <td data-label="Last used">
            <Ago at={token.lastUsedAt} />
          </td>
          <CredentialActions subject={token} onDo={(what) => onDo(what, token)} />
        </tr>
      ))}
    </Table>
  )
}

/** Shows a token once, with what reads the variables. */
function ShowToken({ issued, verb, onClose }: { issued: IssuedToken; verb: string; onClose(): void }) {
  const { token, tokenString } = issued
  const url = variablesUrl(issued)
  return (
    <ShowCredential noun="token" title={`Token “${token.name}” ${verb}`} text={tokenString} onClose={onClose}>
      <p class="label">Read the variables in a browser or a server</p>
      <CopyField
        label="Snippet"
        text={`const response = await fetch('${url}')\nconst { data } = await response.json()\nconsole.log(data.variables)`}
      />
      <p class="label">Try it</p>
      <CopyField label="Command" text={`curl '${url}'`} />
    </ShowCredential>
  )
}
