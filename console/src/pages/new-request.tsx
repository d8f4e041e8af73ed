import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Choice, Failure, Field, GroupProblem } from '../components/field.tsx'
import { invalid, useForm } from '../form.ts'
import { requestIds, takeRequestDraft } from '../request-draft.ts'
import { requestAddress } from '../requests.ts'
import { cache, refresh } from '../resource.ts'
import { navigate } from '../router.tsx'
import { setSearchText } from '../search.ts'
import type { Identifier, Request, RequestPage, SubjectRef } from '../types.ts'
import { IdentifierFields, SubjectFields } from './person-fields.tsx'

/** A name that trackers use often. */
const firstIdentifier: Identifier = { name: 'email', value: '' }
/** The server accepts no more in one person. */
const maxNamed = 32

/** The form of a new request, prefilled with the person that another page passed. */
export function NewRequest({ onClose }: { onClose(): void }) {
  const [draft] = useState(takeRequestDraft)
  const [requestIdFor] = useState(requestIds)
  const [kind, setKind] = useState<Request['kind']>(draft?.kind ?? 'access')
  const [day, setDay] = useState(today)
  const [reference, setReference] = useState('')
  const [identifiers, setIdentifiers] = useState<readonly Identifier[]>(
    draft ? draft.identifiers : [firstIdentifier],
  )
  const [subjects, setSubjects] = useState<readonly SubjectRef[]>(draft?.subjects ?? [])
  const form = useForm('person', 'receivedAt', 'reference')
  const isFull = identifiers.length + subjects.length >= maxNamed
  const problem = form.fields.person
  async function create(): Promise<void> {
    if (day === '') throw invalid('receivedAt', 'Enter the day on which the request was received')
    if (day > today()) throw invalid('receivedAt', 'The day must be today or earlier')
    const person = {
      identifiers: identifiers
        // One that another page passed is exact, with any spaces.
        .map((each) => (draft?.identifiers.includes(each) ? each : trimmed(each)))
        .filter(({ value }) => value !== ''),
      subjects: subjects.filter(({ subjectId }) => subjectId !== ''),
    }
    const receivedAt = instantOf(day)
    const content = {
      ...{ kind, person },
      ...(receivedAt !== null && { receivedAt }),
      ...(reference.trim() !== '' && { reference: reference.trim() }),
    }
    const requestId = requestIdFor(content)
    const page = await change<RequestPage>('/requests', { ...content, requestId })
    cache.setQueryData([`/requests/${requestId}`], page)
    setSearchText('')
    for (const path of ['/requests', '/request-counts']) void refresh(path)
    navigate(requestAddress(requestId))
  }
  return (
    <Dialog title="New request" onClose={onClose}>
      <form class="new-request" noValidate onSubmit={form.submit(create)}>
        <Choice
          label="What the person asks for"
          value={kind}
          choices={[
            ['access', 'A copy of their data'],
            ['erasure', 'Erasure'],
          ]}
          onChange={(each) => setKind(each)}
        />
        <fieldset class="choice" aria-describedby={problem && 'person-problem'}>
          <legend class="label">Who they are</legend>
          <ul class="person-parts">
            {identifiers.map((identifier, i) => (
              <IdentifierFields
                key={i}
                part={identifier}
                number={i + 1}
                hasFocus={i === 0 && identifier.value === ''}
                onChange={(next) => setIdentifiers(replaced(identifiers, i, next))}
              />
            ))}
            {subjects.map((subject, i) => (
              <SubjectFields
                key={i}
                part={subject}
                number={i + 1}
                onChange={(next) => setSubjects(replaced(subjects, i, next))}
              />
            ))}
          </ul>
          <div class="actions">
            <Button
              kind="quiet"
              icon="plus"
              isDisabled={isFull}
              onClick={() => setIdentifiers([...identifiers, { name: 'userId', value: '' }])}
            >
              Add an identifier
            </Button>
            <Button
              kind="quiet"
              icon="plus"
              isDisabled={isFull}
              onClick={() => setSubjects([...subjects, { trackerId: '', subjectId: '' }])}
            >
              Add a record
            </Button>
          </div>
          <GroupProblem id="person-problem" problem={problem} />
        </fieldset>
        <div class="two-fields">
          <Field
            label="Received on"
            type="date"
            value={day}
            onInput={setDay}
            problem={form.fields.receivedAt}
            hint="Due one calendar month later."
          />
          <Field
            label="Reference"
            value={reference}
            onInput={setReference}
            problem={form.fields.reference}
            hint="Optional, for example a ticket. No name: it is kept after the request is closed."
            isRequired={false}
          />
        </div>
        <p class="note">
          Lethe looks for this person in all trackers. Nothing is exported, erased or sent yet. When the
          request is closed, the person’s identifiers are deleted from it.
        </p>
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Create request
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function trimmed({ name, value }: Identifier): Identifier {
  return { name: name.trim(), value: value.trim() }
}

/** The list with one item replaced, or removed if `next` is `null`. */
function replaced<Item>(items: readonly Item[], at: number, next: Item | null): Item[] {
  return items.flatMap((item, i) => (i !== at ? [item] : next === null ? [] : [next]))
}

/** The day in the reader's calendar. */
function today(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}

/** Noon of an earlier day, which is that day in most time zones; `null` for now. */
function instantOf(day: string): string | null {
  return day === today() ? null : new Date(`${day}T12:00`).toISOString()
}
