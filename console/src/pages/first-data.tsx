import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { collectCommand, importCommand } from '../commands.ts'
import { Button } from '../components/button.tsx'
import { NameDialog } from '../components/dialog.tsx'
import { CopyField } from '../components/field.tsx'
import { refresh } from '../resource.ts'
import { For } from '../session.tsx'
import type { IssuedKey } from '../types.ts'
import { ShowKey } from './key-dialogs.tsx'

/** How to send the first data. */
export function FirstData({ trackerId, onCreateKey }: { trackerId: string; onCreateKey(): void }) {
  // The command must not change while somebody copies it.
  const [openedAt] = useState(() => new Date())
  return (
    <div class="first-data">
      <h3>Waiting for data</h3>
      <p role="status">
        No data was recorded in this period. This page updates automatically when data arrives.
      </p>
      <h4>Send an event from any machine</h4>
      <p class="muted">
        The key needs the scope <code>analytics:collect</code>, which allows nothing but sending data.
      </p>
      <For least="admin">
        <Button icon="plus" onClick={onCreateKey}>
          Create a collect-only key
        </Button>
      </For>
      <CopyField label="HTTP command" text={collectCommand(trackerId, undefined, openedAt)} />
      <h4>Import a file on the server</h4>
      <CopyField label="Import command" text={importCommand(trackerId)} />
    </div>
  )
}

/** Creates a key that can only send data, and shows it once, with a command that sends an event. */
export function CreateCollectKey({ trackerId, onClose }: { trackerId: string; onClose(): void }) {
  const [issued, setIssued] = useState<IssuedKey | null>(null)
  if (issued) return <ShowKey {...{ issued, trackerId, onClose }} verb="created" />
  return (
    <NameDialog
      title="Create a collect-only key"
      action="Create the key"
      hint="Where it will be used, for example “shop backend”. It can send data to every tracker of your organisation, and read nothing."
      onSave={async (name) => {
        const scopes = ['analytics:collect']
        setIssued(await change<IssuedKey>('/keys', { name, scopes, expiresAt: null }))
        void refresh('/keys')
      }}
      onClose={onClose}
    />
  )
}
