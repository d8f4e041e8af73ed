import { useEffect, useId, useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Choice, Failure, Field, Note } from '../components/field.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { groupAddress, totalOf } from '../requests.ts'
import { refresh, useResource } from '../resource.ts'
import { navigate } from '../router.tsx'
import { takeErasureList } from '../search.ts'
import type { ErasureListPlan, RequestGroup, Tracker, TrackerList } from '../types.ts'
import { EraseListPreview } from './erase-list-preview.tsx'
import { columnsOf, looksLikeAddresses, readTextFile, suggestedColumn } from './list-columns.ts'
import { ApprovalHint } from './request-approval.tsx'

/** After so long, the progress is shown. */
const longMs = 2_000
const pollIntervalMs = 1_000

/** The list and the options of the form. */
interface Draft {
  text: string
  by: 'subjectId' | 'email'
  /** The column of a CSV file; `null` for plain lines. */
  column: string | null
  trackerIds: string[]
  reference: string
}

const nothing: Draft = { text: '', by: 'subjectId', column: null, trackerIds: [], reference: '' }

function bodyOf({ text, by, column, trackerIds, reference }: Draft) {
  const list = { text, by, trackerIds, reference: reference.trim() }
  return { ...list, ...(column === null ? { format: 'lines' } : { format: 'csv', column }) }
}

/** Erases everyone on a list, with a request for each. */
export function EraseListPage() {
  const trackers = useResource<TrackerList>('/trackers')
  const [draft, setDraft] = useState<Draft>(() => ({ ...nothing, text: takeErasureList() }))
  const [preview, setPreview] = useState<{ of: Draft; plan: ErasureListPlan } | null>(null)
  const [fileProblem, setFileProblem] = useState<string | null>(null)
  const [isConfirming, setConfirming] = useState(false)
  const [isStoring, setStoring] = useState(false)
  const form = useForm('text', 'reference', ...(draft.column !== null ? ['column' as const] : []))
  const textId = useId()
  const problem = fileProblem ?? form.fields.text
  // The draft may have changed while its preview was on its way.
  const plan = preview?.of === draft ? preview.plan : null
  function edit(changes: Partial<Draft>): void {
    setDraft((before) => ({ ...before, ...changes }))
    setFileProblem(null)
  }
  async function take(file: File | undefined): Promise<void> {
    if (!file) return
    const read = await readTextFile(file)
    if ('problem' in read) {
      setFileProblem(read.problem)
      return
    }
    const { text } = read
    const column = /\.(csv|tsv)$/i.test(file.name) ? suggestedColumn(text) : null
    edit({ text, column, ...(column && /mail/i.test(column) && { by: 'email' }) })
  }
  return (
    <Page
      title="Erase a list"
      within="Requests"
      above={{ to: '/console/requests', title: 'Requests' }}
      intro="Everyone on the list gets an erasure request. Nothing is erased until you have previewed the matches and confirmed their number."
    >
      <form
        noValidate
        class="card list-form"
        onSubmit={form.submit(async () =>
          setPreview({ of: draft, plan: await change('/erasure-lists/preview', bodyOf(draft)) }),
        )}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          void take(event.dataTransfer?.files[0])
        }}
      >
        <Choice
          label="Content of each line"
          value={draft.by}
          choices={[
            ['subjectId', 'Data subject ID'],
            ['email', 'E-mail address'],
          ]}
          onChange={(by) => edit({ by })}
        />
        <div class="field">
          <label for={textId}>List</label>
          <textarea
            id={textId}
            rows={10}
            value={draft.text}
            spellcheck={false}
            placeholder={draft.by === 'email' ? 'ada@example.com' : 'visitor-10010982'}
            aria-invalid={problem !== undefined}
            aria-describedby={`${textId}-note`}
            onInput={(event) => edit({ text: event.currentTarget.value })}
          />
          <Note
            id={`${textId}-note`}
            problem={problem}
            hint="One per line, up to 10,000. Paste the list, drop a file here or choose one. IDs must match exactly, including spaces and case."
          />
          <label class="button plain file">
            <input
              type="file"
              class="visually-hidden"
              accept=".csv,.tsv,.txt,text/*"
              onChange={(event) => void take(event.currentTarget.files?.[0])}
            />
            <span>Choose a file</span>
          </label>
          <div role="status">
            {draft.by === 'subjectId' && looksLikeAddresses(draft.text, draft.column) && (
              <p class="note offer">
                These look like e-mail addresses, but each line is treated as an ID.
                <Button onClick={() => edit({ by: 'email' })}>Match by e-mail address</Button>
              </p>
            )}
          </div>
        </div>
        {draft.column !== null && (
          <Columns
            text={draft.text}
            column={draft.column}
            problem={form.fields.column}
            onChange={(column) => edit({ column })}
          />
        )}
        <Loaded resource={trackers} lines={2}>
          {({ trackers }) => (
            <Trackers
              trackers={trackers}
              chosen={draft.trackerIds}
              onChange={(trackerIds) => edit({ trackerIds })}
            />
          )}
        </Loaded>
        <Field
          label="Reference"
          value={draft.reference}
          hint="Your own name for this list, such as “Closed accounts, November”. It is kept, so it must not name anyone. If you submit a list again with the same reference, nobody gets a second request."
          problem={form.fields.reference}
          onInput={(reference) => edit({ reference })}
        />
        <Failure failure={form.failure} />
        <Button
          type="submit"
          kind="primary"
          isBusy={form.isBusy}
          isDisabled={draft.text.trim() === '' || draft.reference.trim() === ''}
        >
          Preview matches
        </Button>
      </form>
      <div aria-live="polite">
        {plan && (
          <EraseListPreview
            plan={plan}
            reference={draft.reference.trim()}
            trackers={trackers.data?.trackers ?? []}
            onErase={() => setConfirming(true)}
          />
        )}
      </div>
      {plan && isConfirming && (
        <Confirm
          title={`Erase ${counted(plan.found.subjects, 'data subject')}`}
          action="Erase for good"
          kind="danger"
          typing={{
            what: 'the number of data subjects',
            text: String(plan.found.subjects),
            field: 'subjects',
          }}
          onConfirm={async () => {
            const body = { ...bodyOf(draft), subjects: plan.found.subjects }
            setStoring(true)
            const stored = change<RequestGroup>('/erasure-lists', body).finally(() => setStoring(false))
            const { reference } = await stored
            for (const path of ['/requests', '/request-counts', '/request-groups']) void refresh(path)
            navigate(groupAddress(reference))
          }}
          onClose={() => setConfirming(false)}
        >
          <p>
            This deletes {counted(plan.found.sessions, 'session')} and {counted(plan.found.events, 'event')},
            one data subject at a time. You can cancel what is not finished, but erased data cannot be
            restored. Daily totals are kept.
          </p>
          <ApprovalHint />
          {isStoring && <Storing reference={draft.reference.trim()} people={plan.matched} />}
        </Confirm>
      )}
    </Page>
  )
}

/** How many requests of a list are stored, while the service stores them. */
function Storing({ reference, people }: { reference: string; people: number }) {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), longMs)
    return () => clearTimeout(timer)
  }, [])
  const path = `/request-groups?reference=${encode(reference)}`
  const group = useResource<RequestGroup>(isLong ? path : null, { pollMs: () => pollIntervalMs })
  // Before the first one is stored, the member may still have to confirm who they are.
  if (!group.data) return null
  const stored = Math.min(people, totalOf(group.data))
  return (
    <div role="status">
      <progress max={people} value={stored} aria-label="Requests stored" />
      <p class="muted">
        {formatNumber(stored)} of {counted(people, 'request')} stored. You can close this page: the service
        continues.
      </p>
    </div>
  )
}

function Columns({
  text,
  column,
  problem,
  onChange,
}: {
  text: string
  column: string
  problem: string | undefined
  onChange(column: string): void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Column</label>
      <select
        id={id}
        value={column}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {columnsOf(text).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <Note
        id={`${id}-note`}
        problem={problem}
        hint="Column names are taken from the first line of the file."
      />
    </div>
  )
}

function Trackers({
  trackers,
  chosen,
  onChange,
}: {
  trackers: Tracker[]
  chosen: string[]
  onChange(ids: string[]): void
}) {
  return (
    <fieldset class="scopes">
      <legend>Trackers</legend>
      <label class="scope">
        <input type="checkbox" checked={chosen.length === 0} onChange={() => onChange([])} />
        <span>All trackers</span>
      </label>
      {trackers.map(({ id, name }) => (
        <label key={id} class="scope">
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={() =>
              onChange(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id])
            }
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  )
}
