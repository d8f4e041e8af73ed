import { change, encode } from '../api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { tell } from '../parts/toasts.tsx'
import { Ago } from '../parts/when.tsx'
import { refresh } from '../resource.ts'
import type { IssuedKey, Key } from '../types.ts'

interface ChangeKeyProps {
  what: 'rotate' | 'revoke'
  subject: Key
  onRotated(issued: IssuedKey): void
  onClose(): void
}

/** Asks before a key's string stops working. */
export function ChangeKey({ what, subject: key, onRotated, onClose }: ChangeKeyProps) {
  const path = `/keys/${encode(key.id)}`
  if (what === 'rotate') {
    return (
      <Confirm
        title={`Rotate “${key.name}”`}
        action="Rotate the key"
        onConfirm={async () => onRotated(await change<IssuedKey>(`${path}/rotate`))}
        onClose={onClose}
      >
        <p>
          The string that ends in <code>{key.lastFour}</code> stops working immediately. There is no time in
          which both work. Whatever still uses it is answered 401 until it has the new one, which you see
          next.
        </p>
        <p class="muted">
          Last used: <Ago at={key.lastUsedAt} />. Name, scopes and expiry stay.
        </p>
      </Confirm>
    )
  }
  return (
    <Confirm
      title={`Revoke “${key.name}”`}
      action="Revoke for good"
      kind="danger"
      typing={{ what: 'the key’s name', text: key.name, field: 'name' }}
      onConfirm={async (name) => {
        await change(`${path}/revoke`, { name })
        tell(`Revoked “${key.name}”`)
        void refresh('/keys')
        onClose()
      }}
      onClose={onClose}
    >
      <p>The key stops working immediately and for good. A revoked key cannot be brought back.</p>
      <p class="muted">
        Last used: <Ago at={key.lastUsedAt} />.
      </p>
    </Confirm>
  )
}
