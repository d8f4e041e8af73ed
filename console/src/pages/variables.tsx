import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { LeaveGuard } from '../components/leave-guard.tsx'
import { Page } from '../components/page.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import type { Editor } from '../editor/editor.ts'
import { refresh, useResource } from '../resource.ts'
import { For, useMay } from '../session.tsx'
import type { TrackerList, VariableSet } from '../types.ts'
import { formatVariables, type Variables } from '../variables.ts'
import { ReviewChanges } from './review-changes.tsx'
import { VariableEditor } from './variable-editor.tsx'
import { VariableTokens } from './variable-tokens.tsx'
import { VariableVersions } from './variable-versions.tsx'

export function VariablesPage({ trackerId }: { trackerId: string }) {
  const trackers = useResource<TrackerList>('/trackers')
  const path = `/trackers/${encode(trackerId)}/variables`
  const current = useResource<VariableSet>(path)
  const name = trackers.data?.trackers.find(({ id }) => id === trackerId)?.name
  return (
    <Page
      title="Variables"
      within={name}
      intro="Remote config: websites, apps and servers read these values with a variable token. Anybody who has a token can read them all, so store no secrets here."
      above={{ to: `/console/trackers/${encode(trackerId)}`, title: name ?? 'Tracker' }}
    >
      <Loaded resource={current} lines={12}>
        {(set) => (
          <>
            <Document path={path} latest={set} />
            <VariableTokens trackerId={trackerId} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** A change to review: of the editor's text, or to an earlier version. */
interface Review {
  title: string
  text: string
  after: Variables
  isRestore: boolean
}

/** The editor and the versions. `latest` may be newer than the version in the editor. */
function Document({ path, latest }: { path: string; latest: VariableSet }) {
  const [base, setBase] = useState(latest)
  /** The text that a first document starts with. */
  const [start, setStart] = useState<string | null>(null)
  const [isDirty, setDirty] = useState(false)
  const [review, setReview] = useState<Review | null>(null)
  const editor = useRef<Editor | null>(null)
  const mayEdit = useMay('admin')
  function open(set: VariableSet): void {
    setBase(set)
    setReview(null)
    editor.current?.load(formatVariables(set.variables))
  }
  // At once: what is typed in the meantime must not be replaced.
  useLayoutEffect(() => {
    if (latest.version > base.version && !isDirty) open(latest)
  }, [latest.version])
  function finish(saved: VariableSet): void {
    showToast(`Saved version ${saved.version}`)
    if (review?.isRestore) open(saved)
    else editor.current?.markSaved()
    setBase(saved)
    setReview(null)
    void refresh(path)
  }
  if (base.version === 0 && start === null) return <NoVariables onStart={setStart} />
  const saved = formatVariables(base.variables)
  if (!mayEdit) {
    return (
      <>
        <section class="part" aria-label="Current variables">
          <pre class="document">{saved}</pre>
        </section>
        <VariableVersions path={path} current={base.version} />
      </>
    )
  }
  return (
    <>
      <VariableEditor
        text={start ?? saved}
        saved={saved}
        editor={editor}
        isDirty={isDirty}
        onDirty={setDirty}
        onReview={(text, after) => setReview({ title: 'Review changes', text, after, isRestore: false })}
        onDiscard={() => open(base)}
      />
      {base.version > 0 && (
        <VariableVersions
          path={path}
          current={base.version}
          onRestore={({ version, variables }) =>
            setReview({
              title: `Restore version ${version}`,
              text: formatVariables(variables),
              after: variables,
              isRestore: true,
            })
          }
        />
      )}
      {review && (
        <ReviewChanges
          title={review.title}
          path={path}
          base={base}
          text={review.text}
          after={review.after}
          discardsEdits={review.isRestore && isDirty}
          onSaved={finish}
          onRebase={setBase}
          onReload={open}
          onClose={() => setReview(null)}
        />
      )}
      {isDirty && <LeaveGuard />}
    </>
  )
}

const example = {
  'checkout.enabled': true,
  banner: { text: 'Free shipping this week', colour: 'green' },
  maxUploadMegabytes: 25,
}

function NoVariables({ onStart }: { onStart(text: string): void }) {
  return (
    <Empty icon="variables" title="No variables yet">
      <p>
        A variable has a name and a JSON value. Change a value here, and every reader sees it with its next
        request, without a new release.
      </p>
      <For least="admin">
        <div class="editor-actions">
          <Button kind="primary" onClick={() => onStart(JSON.stringify(example, null, 2))}>
            Start with an example
          </Button>
          <Button onClick={() => onStart('{\n  \n}')}>Start empty</Button>
        </div>
      </For>
    </Empty>
  )
}
