import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Failure, Field } from '../components/field.tsx'
import { showToast } from '../components/toasts.tsx'
import { counted } from '../components/when.tsx'
import { invalid, useForm } from '../form.ts'
import { refresh } from '../resource.ts'
import { useMay } from '../session.tsx'
import type { ApprovalRule } from '../types.ts'
import { approvalPath } from './request-approval.tsx'

/** The rule that erasing many people takes two members. */
export function ApprovalCard({ rule: { above } }: { rule: ApprovalRule }) {
  const mayEdit = useMay('admin')
  return (
    <section class="card" aria-labelledby="approval">
      <header>
        <h2 id="approval">Four eyes</h2>
      </header>
      <p>
        {above === null
          ? 'Any desk member or admin can erase any number of people.'
          : `A member who erases more than ${counted(above, 'person', 'people')} within 24 hours needs the approval of another member.`}
      </p>
      {mayEdit && <RuleForm above={above} />}
    </section>
  )
}

/** The typed number, `null` if nothing is typed. Text such as "1,000" must not become another number, or no rule. */
function numberIn(typed: string): number | null {
  const text = typed.trim()
  if (text === '') return null
  if (!/^\d{1,5}$/.test(text)) throw invalid('above', 'Enter a whole number, using only digits')
  return Number(text)
}

function RuleForm({ above }: ApprovalRule) {
  const [typed, setTyped] = useState(above === null ? '' : String(above))
  const form = useForm('above')
  return (
    <form
      noValidate
      onSubmit={form.submit(async () => {
        await change(approvalPath, { above: numberIn(typed) })
        await refresh(approvalPath)
        showToast('Rule saved')
      })}
    >
      <Field
        label="People without approval"
        value={typed}
        onInput={setTyped}
        problem={form.fields.above}
        hint="Per member within 24 hours; a list counts all its people. Leave it empty for no rule. Requests that already wait for approval are not released, and API keys are not affected."
        isRequired={false}
      />
      <Failure failure={form.failure} />
      <Button type="submit" kind="primary" isBusy={form.isBusy}>
        Save rule
      </Button>
    </form>
  )
}
