import { useState } from 'preact/hooks'
import { ApiError, change, read } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Failure } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago } from '../components/when.tsx'
import { useForm } from '../form.ts'
import type { SavedVariables, VariableSet, VariableVersion, VariableVersionList } from '../types.ts'
import { compareVariables, type VariableChange, type Variables } from '../variables.ts'

interface ReviewChangesProps {
  title: string
  /** The path of the variables. */
  path: string
  /** The version that the changes are based on. */
  base: VariableSet
  after: Variables
  /** The text to save. */
  text: string
  /** Whether the editor has changes that are not part of this. */
  discardsEdits?: boolean
  onSaved(saved: VariableSet): void
  /** Called to continue with the version that somebody else has saved. */
  onRebase(current: VariableSet): void
  /** Called to drop the changes and show that version. */
  onReload(current: VariableSet): void
  onClose(): void
}

/** Shows what saving would change, and saves it. */
export function ReviewChanges(props: ReviewChangesProps) {
  const { title, path, base, after, text, discardsEdits = false, onSaved, onClose } = props
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const form = useForm()
  const changes = compareVariables(base.variables, after)
  async function save(): Promise<void> {
    try {
      const { version } = await change<SavedVariables>(path, { text, version: base.version })
      onSaved({ version, variables: { ...after } })
    } catch (error) {
      const found = error instanceof ApiError && error.status === 422 ? await conflictWith(base, path) : null
      if (!found) throw error
      setConflict(found)
    }
  }
  if (conflict) {
    const { current, latest } = conflict
    return (
      <Dialog title="Changed meanwhile" onClose={onClose}>
        <div class="prose">
          <p>
            {latest ? (
              <>
                <ActorName actor={latest.actor} /> saved version {current.version}{' '}
                <Ago at={latest.changedAt} />.
              </>
            ) : (
              `Version ${current.version} was saved meanwhile.`
            )}{' '}
            Your changes are based on version {base.version} and were not saved.
          </p>
          <p>
            Compare your text with version {current.version}, or discard your changes and load that version.
          </p>
        </div>
        <footer class="dialog-foot">
          <Button kind="danger" onClick={() => props.onReload(current)}>
            Discard and load version {current.version}
          </Button>
          <Button
            kind="primary"
            onClick={() => {
              setConflict(null)
              props.onRebase(current)
            }}
          >
            Compare with version {current.version}
          </Button>
        </footer>
      </Dialog>
    )
  }
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <form onSubmit={form.submit(save)}>
        <ChangeList changes={changes} />
        <div class="prose">
          <p>
            {changes.length === 0
              ? 'There is nothing to save.'
              : 'Every reader sees the new values with its next request. Tokens and other trackers do not change, and you can restore an earlier version.'}
          </p>
          {discardsEdits && <p class="problem">Unsaved changes in the editor will be discarded.</p>}
        </div>
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy} isDisabled={changes.length === 0}>
            Save version {base.version + 1}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

interface Conflict {
  current: VariableSet
  latest: VariableVersion | undefined
}

/** Who has saved a newer version; `null` if nobody has. */
async function conflictWith(base: VariableSet, path: string): Promise<Conflict | null> {
  const current = await read<VariableSet>(path)
  if (current.version === base.version) return null
  const { versions } = await read<VariableVersionList>(`${path}/versions`)
  return { current, latest: versions.find(({ version }) => version === current.version) }
}

const titles = { added: 'Added', changed: 'Changed', removed: 'Removed' }
const icons = { added: 'plus', changed: 'edit', removed: 'trash' } as const

/** Changes by variable, with old and new values. */
export function ChangeList({ changes }: { changes: VariableChange[] }) {
  if (changes.length === 0) return <p class="muted no-changes">The values are the same.</p>
  return (
    <ul class="changes">
      {changes.map(({ kind, name, before, after }) => (
        <li key={name}>
          <h3>
            <span class={`change ${kind}`}>
              <Icon name={icons[kind]} /> {titles[kind]}
            </span>{' '}
            <code class="wrap">{name}</code>
          </h3>
          <div class="values">
            {kind !== 'added' && <Value title="Old value" value={before} kind="old" />}
            {kind !== 'removed' && <Value title="New value" value={after} kind="new" />}
          </div>
        </li>
      ))}
    </ul>
  )
}

const longLength = 400

function Value({ title, value, kind }: { title: string; value: unknown; kind: 'old' | 'new' }) {
  const text = JSON.stringify(value, null, 2)
  const isLong = text.length > longLength || text.split('\n').length > 10
  return (
    <figure>
      <figcaption>{title}</figcaption>
      {/* A box that scrolls must be reachable by keyboard. */}
      <pre class={kind} tabIndex={isLong ? 0 : undefined}>
        {text}
      </pre>
    </figure>
  )
}
