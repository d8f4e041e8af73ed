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
          The current key, which ends in <code>{key.lastFour}</code>, stops working immediately. There is no
          overlap: clients that still use it receive 401 until they have the new key, which is shown next.
        </p>
        <p class="muted">
          Last used: <Ago at={key.lastUsedAt} />. Name, scopes and expiry do not change.
        </p>
      </Confirm>
    )
  }
  return (
    <Confirm
      title={`Revoke “${key.name}”`}
      action="Revoke the key"
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
      <p>The key stops working immediately. A revoked key cannot be restored.</p>
      <p class="muted">
        Last used: <Ago at={key.lastUsedAt} />.
      </p>
    </Confirm>
  )
}
