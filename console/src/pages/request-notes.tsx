import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Failure } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { TextArea } from '../components/text-area.tsx'
import { showToast } from '../components/toasts.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { changeRequest, deleteNote } from '../requests.ts'
import { useMay } from '../session.tsx'
import type { RequestNote } from '../types.ts'

interface NoteCardProps {
  requestId: string
  note: RequestNote
  /** Whether it can no longer be deleted. */
  isFinal: boolean
}

export function NoteCard({ requestId, note: { id, at, by, text }, isFinal }: NoteCardProps) {
  const [isDeleting, setDeleting] = useState(false)
  const mayDelete = useMay('desk')
  return (
    <li class="moment">
      <span class="moment-icon">
        <Icon name="note" />
      </span>
      <div class="note-card">
        <p class="moment-head">
          <strong>Note</strong>
          <ActorName actor={by} />
          <Ago at={at} />
          {!isFinal && mayDelete && (
            <button
              type="button"
              class="icon-button"
              aria-label="Delete this note"
              onClick={() => setDeleting(true)}
            >
              <Icon name="trash" />
            </button>
          )}
        </p>
        <p class="note-text">{text}</p>
      </div>
      {isDeleting && (
        <Confirm
          title="Delete this note"
          action="Delete note"
          kind="danger"
          onConfirm={async () => {
            await deleteNote(requestId, id)
            showToast('Note deleted')
          }}
          onClose={() => setDeleting(false)}
        >
          <p>
            Its text is deleted for everybody. The activity keeps that there was a note, but not its text.
          </p>
        </Confirm>
      )}
    </li>
  )
}

/** The form of a new note. */
export function AddNote({ requestId }: { requestId: string }) {
  const [text, setText] = useState('')
  const form = useForm('text')
  return (
    <form
      class="add-note"
      noValidate
      onSubmit={form.submit(async () => {
        await changeRequest(requestId, 'notes', { text: text.trim() })
        setText('')
      })}
    >
      <TextArea
        label="Add a note"
        value={text}
        rows={2}
        onInput={setText}
        problem={form.fields.text}
        hint="For your colleagues. Notes are deleted when the request is closed."
      />
      <Failure failure={form.failure} />
      <Button type="submit" isBusy={form.isBusy} isDisabled={text.trim() === ''}>
        Add note
      </Button>
    </form>
  )
}
