import { useRef, useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Choice, Failure } from '../components/field.tsx'
import { LeaveGuard } from '../components/leave-guard.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { TextArea } from '../components/text-area.tsx'
import { showToast } from '../components/toasts.tsx'
import { When } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { languages, replyTitle } from '../replies.ts'
import { previewOf } from '../reply-preview.ts'
import { refresh, useResource } from '../resource.ts'
import { useMay } from '../session.tsx'
import type { ReplyText, ReplyTextList } from '../types.ts'

const path = '/reply-texts'

const groups = [
  ['access', 'Access requests'],
  ['erasure', 'Erasure requests'],
] as const

const meanings: Record<string, string> = {
  organisation: 'the display name of your organisation',
  contact: 'its contact',
  reference: 'the reference of the request, or its ID',
  receivedAt: 'the day the request arrived',
  dueAt: 'the day it must be answered by',
  today: 'the current day',
  closedAt: 'the day the request was closed, or the current day',
  subjects: 'the number of data subjects',
  sessions: 'the number of sessions',
  events: 'the number of events',
  reason: 'the reason for the extension or rejection',
  verifyLink: 'the address of the page that verifies receipts',
}

export function ReplyTextsPage() {
  const list = useResource<ReplyTextList>(path)
  return (
    <Page
      title="Reply texts"
      intro="What you answer to people who send you requests. Lethe fills in the facts and sends nothing: you copy the text."
      above={{ to: '/console/settings', title: 'Settings' }}
    >
      <Loaded resource={list} lines={12}>
        {(data) => <Texts list={data} />}
      </Loaded>
    </Page>
  )
}

const keyOf = ({ name, language }: Pick<ReplyText, 'name' | 'language'>) => `${name} ${language}`

function Texts({ list }: { list: ReplyTextList }) {
  const [language, setLanguage] = useState(list.language)
  const [name, setName] = useState<string>('access.received')
  /** What was typed and not saved, by text. */
  const [drafts, setDrafts] = useState<Readonly<Record<string, string>>>({})
  const texts = list.texts.filter((text) => text.language === language)
  const current = texts.find((text) => text.name === name)
  const values = new Map(list.samples.map((sample) => [sample.name, sample[language]]))
  function draft(key: string, typed: string | null): void {
    setDrafts(({ [key]: _, ...others }) => (typed === null ? others : { ...others, [key]: typed }))
  }
  return (
    <div class="replies">
      <nav aria-label="Reply texts">
        <Choice
          label="Language"
          value={language}
          choices={languages}
          onChange={(each) => setLanguage(each)}
          isSmall
        />
        {groups.map(([kind, title]) => (
          <section key={kind}>
            <h2>{title}</h2>
            <ul>
              {texts
                .filter((text) => text.name.startsWith(`${kind}.`))
                .map((text) => (
                  <li key={text.name}>
                    <button
                      type="button"
                      aria-current={text.name === name ? 'true' : undefined}
                      onClick={() => setName(text.name)}
                    >
                      <span>{replyTitle(text.name)}</span>
                      <small>{keyOf(text) in drafts ? 'unsaved' : text.changedAt ? 'changed' : ''}</small>
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
      {current && (
        <TextEditor
          key={keyOf(current)}
          text={current}
          draft={drafts[keyOf(current)] ?? null}
          values={values}
          onDraft={(typed) => draft(keyOf(current), typed)}
        />
      )}
      {Object.keys(drafts).length > 0 && <LeaveGuard />}
    </div>
  )
}

interface TextEditorProps {
  text: ReplyText
  /** What was typed; `null` if it is what was saved. */
  draft: string | null
  values: ReadonlyMap<string, string>
  onDraft(typed: string | null): void
}

function TextEditor({ text: saved, draft, values, onDraft }: TextEditorProps) {
  const { name, language, placeholders } = saved
  const [isRestoring, setRestoring] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const form = useForm('text')
  const mayEdit = useMay('admin')
  const typed = draft ?? saved.text
  const edit = (text: string) => onDraft(text === saved.text ? null : text)
  async function finish(done: string): Promise<void> {
    await refresh(path)
    onDraft(null)
    setRestoring(false)
    showToast(done)
  }
  function insert(placeholder: string): void {
    if (!area.current) return
    area.current.setRangeText(
      `{${placeholder}}`,
      area.current.selectionStart,
      area.current.selectionEnd,
      'end',
    )
    area.current.focus()
    edit(area.current.value)
  }
  return (
    <form
      noValidate
      onSubmit={form.submit(async () => {
        await change(path, { name, language, text: typed })
        await finish('Text saved')
      })}
    >
      <TextArea
        label={replyTitle(name)}
        value={typed}
        rows={18}
        onInput={edit}
        problem={form.fields.text}
        hint={saved.changedAt ? <Changed at={saved.changedAt} /> : 'This is the default text.'}
        lang={language}
        area={area}
        isReadOnly={!mayEdit}
      />
      <Failure failure={form.failure} />
      {mayEdit && (
        <>
          <div class="editor-actions">
            <Button type="submit" kind="primary" isBusy={form.isBusy} isDisabled={draft === null}>
              Save text
            </Button>
            {draft !== null && <Button onClick={() => onDraft(null)}>Discard changes</Button>}
            {saved.changedAt && <Button onClick={() => setRestoring(true)}>Restore default</Button>}
            <span class="muted" role="status">
              {draft !== null && 'Unsaved changes'}
            </span>
          </div>
          <h2>Placeholders</h2>
          <p class="note">
            Click one to insert it. A line with nothing but placeholders without a value is left out. For a
            brace, write <code>{'{{'}</code> or <code>{'}}'}</code>.
          </p>
          <ul class="placeholders">
            {placeholders.map((each) => (
              <li key={each}>
                <button type="button" onClick={() => insert(each)}>
                  <code>{`{${each}}`}</code>
                </button>
                <span>{meanings[each]}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <h2 id="preview">Preview with sample facts</h2>
      <section class="reply" lang={language} aria-labelledby="preview">
        {previewOf(typed, new Map([...values].filter(([each]) => placeholders.includes(each)))).map(
          ({ text, kind }, i) =>
            kind === 'plain' ? (
              text
            ) : (
              <mark key={i} class={kind}>
                {text}
              </mark>
            ),
        )}
      </section>
      {isRestoring && (
        <Confirm
          title="Restore the default text"
          action="Restore default"
          onConfirm={async () => {
            await change(`${path}/restore`, { name, language })
            await finish('Default restored')
          }}
          onClose={() => setRestoring(false)}
        >
          <p>
            Your text “{replyTitle(name)}” in {languages.find(([each]) => each === language)?.[1]} is deleted,
            and the default is used again. Other texts do not change.
          </p>
        </Confirm>
      )}
    </form>
  )
}

function Changed({ at }: { at: string }) {
  return (
    <>
      Changed <When at={at} />.
    </>
  )
}
