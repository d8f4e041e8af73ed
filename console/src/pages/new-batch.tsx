import { useId, useState } from 'preact/hooks'
import { change } from '../api.ts'
import { useForm } from '../form.ts'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Failure, Note } from '../parts/field.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/states.tsx'
import { counted, formatNumber } from '../parts/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { navigate } from '../router.tsx'
import { takeListed } from '../sought.ts'
import type { Batch, BatchPlan, Tracker, TrackerList } from '../types.ts'
import { LineFigures } from './batch.tsx'
import { columnsOf, looksLikeAddresses, readTextFile, suggestedColumn } from './list-columns.ts'

/** A list as somebody has put it together. */
interface Draft {
  text: string
  by: 'subjectId' | 'email'
  /** Of a CSV file; `null` for whole lines. */
  column: string | null
  trackerIds: string[]
}

const nothing: Draft = { text: '', by: 'subjectId', column: null, trackerIds: [] }

function bodyOf({ text, by, column, trackerIds }: Draft) {
  return { text, by, trackerIds, ...(column === null ? { format: 'lines' } : { format: 'csv', column }) }
}

export function NewBatchPage() {
  const trackers = useResource<TrackerList>('/trackers')
  const [draft, setDraft] = useState<Draft>(() => ({ ...nothing, text: takeListed() }))
  const [plan, setPlan] = useState<BatchPlan | null>(null)
  const [fileProblem, setFileProblem] = useState<string | null>(null)
  const [isConfirming, setConfirming] = useState(false)
  const form = useForm()
  const textId = useId()
  const problem = fileProblem ?? form.fields.text
  function edit(changes: Partial<Draft>): void {
    setDraft((before) => ({ ...before, ...changes }))
    setPlan(null)
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
      title="New batch"
      within="Batches"
      above={{ to: '/console/batches', title: 'Batches' }}
      intro="Nothing is erased before you have seen whom the list leads to and typed how many they are."
    >
      <form
        noValidate
        class="card batch-form"
        onSubmit={form.submit(async () =>
          setPlan(await change<BatchPlan>('/batches/preview', bodyOf(draft))),
        )}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          void take(event.dataTransfer?.files[0])
        }}
      >
        <Choice
          label="Each line is"
          value={draft.by}
          choices={[
            ['subjectId', 'a data subject’s id'],
            ['email', 'an e-mail address'],
          ]}
          onChange={(by) => edit({ by })}
        />
        <div class="field">
          <label for={textId}>The list</label>
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
            hint="One a line, 10,000 at most. Paste it, drop a file here, or choose one. Ids count as they stand, spaces and capital letters too."
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
                These look like e-mail addresses, and each line counts as an ID.
                <Button onClick={() => edit({ by: 'email' })}>Look for e-mail addresses</Button>
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
        <Failure failure={form.failure} />
        <Button type="submit" kind="primary" isBusy={form.isBusy} isDisabled={draft.text.trim() === ''}>
          Look who is there
        </Button>
      </form>
      <div aria-live="polite">
        {plan && (
          <Preview plan={plan} trackers={trackers.data?.trackers ?? []} onErase={() => setConfirming(true)} />
        )}
      </div>
      {plan && isConfirming && (
        <Confirm
          title={`Erase ${counted(plan.subjects, 'data subject')}`}
          action="Erase them for good"
          kind="danger"
          typing={{ what: 'the number of data subjects', text: String(plan.subjects), field: 'subjects' }}
          onConfirm={async (typed) => {
            const batch = await change<Batch>('/batches', { ...bodyOf(draft), subjects: Number(typed) })
            await refresh('/batches')
            navigate(`/console/batches/${batch.id}`)
          }}
          onClose={() => setConfirming(false)}
        >
          <p>
            {counted(plan.counts.sessions, 'session')} and {counted(plan.counts.events, 'event')} go with
            them, one person after the other. It can be paused and stopped; what is erased cannot be brought
            back.
          </p>
        </Confirm>
      )}
    </Page>
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
      <label for={id}>Column of the file</label>
      <select id={id} value={column} onChange={(event) => onChange(event.currentTarget.value)}>
        {columnsOf(text).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <Note id={`${id}-note`} problem={problem} hint="The first line of the file names its columns." />
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
      <legend>Where to look</legend>
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

const outcomes = { nothing: 'nothing stored', invalid: 'not valid', repeated: 'repeated' }

function Preview({ plan, trackers, onErase }: { plan: BatchPlan; trackers: Tracker[]; onErase(): void }) {
  const { found, nothing, invalid, repeated, subjects, hidden, others } = plan
  const nameOf = (trackerId: string) => trackers.find(({ id }) => id === trackerId)?.name ?? trackerId
  const unnamed = nothing + invalid + repeated - others.length
  return (
    <section class="card" aria-labelledby="preview">
      <header>
        <h2 id="preview">What it would do</h2>
      </header>
      <LineFigures of={plan} />
      <p>
        {formatNumber(found)} of {counted(plan.used, 'used line')} {found === 1 ? 'leads' : 'lead'} to
        somebody; nothing is stored for {formatNumber(nothing)}.
      </p>
      <p>
        {subjects === 0
          ? 'The list leads to nobody of whom anything is stored.'
          : `${counted(subjects, 'data subject')} would go: ${plan.trackers
              .map(({ trackerId, subjects }) => `${formatNumber(subjects)} in ${nameOf(trackerId)}`)
              .join(', ')}.`}
      </p>
      {hidden > 0 && (
        <p>Your plan hides {formatNumber(hidden)} of them. Hidden data is still stored, and is erased too.</p>
      )}
      {others.length > 0 && (
        <details class="more">
          <summary>Lines that lead to nobody</summary>
          <ul class="chips">
            {others.map(({ line, outcome }) => (
              <li key={line}>
                line {formatNumber(line)}: {outcomes[outcome]}
              </li>
            ))}
            {unnamed > 0 && <li>and {formatNumber(unnamed)} more</li>}
          </ul>
        </details>
      )}
      {subjects > 0 && (
        <footer>
          <Button kind="danger" icon="trash" onClick={onErase}>
            Erase {counted(subjects, 'data subject')}…
          </Button>
        </footer>
      )}
    </section>
  )
}
