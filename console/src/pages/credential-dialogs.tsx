import type { ComponentChildren } from 'preact'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog } from '../components/dialog.tsx'
import { CopyField } from '../components/field.tsx'
import { Menu } from '../components/menu.tsx'
import { showToast } from '../components/toasts.tsx'
import { Ago } from '../components/when.tsx'
import { refresh } from '../resource.ts'
import { useMay } from '../session.tsx'

// What API keys and variable tokens have in common.

interface CredentialActionsProps {
  subject: { name: string; state: string }
  onDo(what: 'rotate' | 'revoke'): void
}

/** The cell of a table with the actions on an active key or token. */
export function CredentialActions({ subject: { name, state }, onDo }: CredentialActionsProps) {
  const mayManage = useMay('admin')
  return (
    <td class="row-actions">
      {mayManage && state === 'active' && (
        <Menu
          label={`Actions for ${name}`}
          items={[
            { title: 'Rotate', onChoose: () => onDo('rotate') },
            { title: 'Revoke', isRisky: true, onChoose: () => onDo('revoke') },
          ]}
        />
      )}
    </td>
  )
}

interface ChangeCredentialProps<Issued> {
  noun: 'key' | 'token'
  what: 'rotate' | 'revoke'
  subject: { name: string; lastFour: string; lastUsedAt: string | null }
  path: string
  /** The path of the list it is in. */
  list: string
  /** A note about rotations. */
  rotationNote: string
  onRotated(issued: Issued): void
  onClose(): void
}

/** Confirms a rotation or a revocation. */
export function ChangeCredential<Issued>(props: ChangeCredentialProps<Issued>) {
  const { noun, what, subject, path, list, rotationNote, onRotated, onClose } = props
  const { name, lastFour, lastUsedAt } = subject
  if (what === 'rotate') {
    return (
      <Confirm
        title={`Rotate “${name}”`}
        action={`Rotate the ${noun}`}
        onConfirm={async () => onRotated(await change<Issued>(`${path}/rotate`))}
        onClose={onClose}
      >
        <p>
          The current {noun}, which ends in <code>{lastFour}</code>, stops working immediately. There is no
          overlap: clients that still use it receive 401 until they have the new {noun}, which is shown next.
        </p>
        <p class="muted">
          Last used: <Ago at={lastUsedAt} />. {rotationNote}
        </p>
      </Confirm>
    )
  }
  return (
    <Confirm
      title={`Revoke “${name}”`}
      action={`Revoke the ${noun}`}
      kind="danger"
      typing={{ what: `the ${noun}’s name`, text: name, field: 'name' }}
      onConfirm={async (name) => {
        await change(`${path}/revoke`, { name })
        showToast(`Revoked “${name}”`)
        void refresh(list)
        onClose()
      }}
      onClose={onClose}
    >
      <p>
        The {noun} stops working immediately. A revoked {noun} cannot be restored.
      </p>
      <p class="muted">
        Last used: <Ago at={lastUsedAt} />.
      </p>
    </Confirm>
  )
}

interface ShowCredentialProps {
  noun: 'key' | 'token'
  title: string
  text: string
  /** How to try it. */
  children: ComponentChildren
  onClose(): void
}

/** Shows a key or a token once. It is kept only in this dialog. */
export function ShowCredential({ noun, title, text, children, onClose }: ShowCredentialProps) {
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <div class="prose">
        <p>
          Copy the {noun} now and store it with your other secrets. <strong>It is shown only once</strong> and
          cannot be retrieved later.
        </p>
      </div>
      <p class="label">{noun === 'key' ? 'Key' : 'Token'}</p>
      <CopyField label={noun === 'key' ? 'Key' : 'Token'} text={text} hasFocus />
      {children}
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have stored the {noun}
        </Button>
      </footer>
    </Dialog>
  )
}
