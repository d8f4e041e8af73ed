import { useState } from 'preact/hooks'
import { ApiError, read } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { showFailure } from '../components/toasts.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago } from '../components/when.tsx'
import { useFetched, useResource } from '../resource.ts'
import type { VariableSet, VariableVersion, VariableVersionList } from '../types.ts'
import { compareVariables } from '../variables.ts'
import { ChangeList } from './review-changes.tsx'

interface VersionsProps {
  /** The path of the variables. */
  path: string
  current: number
  /** Called with the variables of the version to restore, if the member may. */
  onRestore?(set: VariableSet): void
}

/** The versions that are kept, newest first. */
export function VariableVersions({ path, current, onRestore }: VersionsProps) {
  const versions = useResource<VariableVersionList>(`${path}/versions`)
  const [shown, setShown] = useState<number | null>(null)
  const restore = (version: number) =>
    read<VariableSet>(`${path}?version=${version}`).then(onRestore, showFailure)
  return (
    <section class="part" aria-labelledby="versions">
      <header class="part-head">
        <div>
          <h2 id="versions">Versions</h2>
          <p class="muted">The last 20 versions are kept.</p>
        </div>
      </header>
      <Loaded resource={versions} lines={3}>
        {({ versions }) => (
          <Table
            caption="Versions, newest first"
            columns={['Version', 'Changes', 'Saved by', 'Saved']}
            hasActions
          >
            {versions.map((each) => (
              <VersionRow
                key={each.version}
                version={each}
                isCurrent={each.version === current}
                onShow={() => setShown(each.version)}
                {...(onRestore && { onRestore: () => void restore(each.version) })}
              />
            ))}
          </Table>
        )}
      </Loaded>
      {shown !== null && <VersionChanges path={path} version={shown} onClose={() => setShown(null)} />}
    </section>
  )
}

interface VersionRowProps {
  version: VariableVersion
  isCurrent: boolean
  onShow(): void
  onRestore?(): void
}

function VersionRow({ version: each, isCurrent, onShow, onRestore }: VersionRowProps) {
  const { version, added, changed, removed, actor, changedAt } = each
  return (
    <tr>
      <th scope="row">
        <span class="strong">Version {version}</span>
        {isCurrent && (
          <span>
            <span class="badge active">current</span>
          </span>
        )}
      </th>
      <td data-label="Changes">
        {[added && `${added} added`, changed && `${changed} changed`, removed && `${removed} removed`]
          .filter(Boolean)
          .join(', ')}
      </td>
      <td data-label="Saved by">
        <ActorName actor={actor} />
      </td>
      <td data-label="Saved">
        <Ago at={changedAt} />
      </td>
      <td class="row-actions">
        <Button kind="quiet" label={`View changes of version ${version}`} onClick={onShow}>
          View changes
        </Button>
        {!isCurrent && onRestore && (
          <Button kind="quiet" label={`Restore version ${version}`} onClick={onRestore}>
            Restore
          </Button>
        )}
      </td>
    </tr>
  )
}

interface VersionChangesProps {
  path: string
  version: number
  onClose(): void
}

/** What a version changed. */
function VersionChanges({ path, version, onClose }: VersionChangesProps) {
  const sets = useFetched(`${path}?version=${version}&compared`, async () => ({
    after: await read<VariableSet>(`${path}?version=${version}`),
    before: version === 1 ? { variables: {} } : await readIfKept(`${path}?version=${version - 1}`),
  }))
  return (
    <Dialog title={`Changes of version ${version}`} onClose={onClose} isWide>
      <Loaded resource={sets}>
        {({ before, after }) =>
          before ? (
            <ChangeList changes={compareVariables(before.variables, after.variables)} />
          ) : (
            <>
              <p class="muted no-changes">
                Version {version - 1} is no longer kept. These are all variables of version {version}:
              </p>
              <pre class="document">{JSON.stringify(after.variables, null, 2)}</pre>
            </>
          )
        }
      </Loaded>
      <footer class="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

async function readIfKept(path: string): Promise<VariableSet | null> {
  try {
    return await read<VariableSet>(path)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
