import { useState } from 'preact/hooks'
import { useForm } from '../form.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure, Field } from '../parts/field.tsx'

interface NameDialogProps {
  title: string
  action: string
  name?: string
  onSave(name: string): Promise<void>
  onClose(): void
}

/** Asks for the name of a tracker or a key. */
export function NameDialog({ title, action, name: before = '', onSave, onClose }: NameDialogProps) {
  const [name, setName] = useState(before)
  const form = useForm()
  return (
    <Dialog title={title} onClose={onClose}>
      <form noValidate onSubmit={form.submit(() => onSave(name))}>
        <Field
          label="Name"
          value={name}
          onInput={setName}
          problem={form.fields.name}
          hint={
            before === ''
              ? 'For example “Web shop”. An ID is generated automatically.'
              : 'The ID does not change.'
          }
          hasFocus
        />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
