import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { useForm } from '../form.ts'
import { Button } from '../parts/button.tsx'
import { Failure, Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { saveText } from '../save-text.ts'
import type { Certificate, ReceiptAgain } from '../types.ts'
import { type Verdict, verifyCertificate } from '../verify.ts'

type Answer = { is: 'another' } | { is: 'same'; receipt: string; verdict: Verdict }

/** Checks an id against an erasure: whoever knows whom it was about gets the receipt again. What is typed goes into no address. */
export function ReceiptBox({ certificate, isAlone }: { certificate: Certificate; isAlone: boolean }) {
  const { index } = certificate.erasure
  const [subjectId, setSubjectId] = useState('')
  const [answer, setAnswer] = useState<Answer | null>(null)
  const form = useForm()
  async function check(): Promise<void> {
    setAnswer(null)
    const { receipt } = await change<ReceiptAgain>('/erasures/receipt', { index, subjectId })
    if (receipt === null) return setAnswer({ is: 'another' })
    const verdict = await verifyCertificate(certificate, { receipt, subjectId })
    setAnswer({ is: 'same', receipt, verdict })
  }
  return (
    <section class="card receipt-box" aria-labelledby={`check-${index}`}>
      <h2 id={`check-${index}`}>{isAlone ? 'Was it this one?' : `Was it this one, in entry ${index}?`}</h2>
      <p class="muted">
        Type the id of a data subject to check it against this erasure. If it is the one, you get the receipt.
      </p>
      <form onSubmit={form.submit(check)}>
        <Field
          label="Id of the data subject"
          value={subjectId}
          onInput={(text) => {
            setSubjectId(text)
            setAnswer(null)
          }}
          problem={form.fields.subjectId}
          isCode
        />
        <Button type="submit" isBusy={form.isBusy}>
          Check
        </Button>
      </form>
      <Failure failure={form.failure} />
      <div role="status">
        {answer?.is === 'another' && (
          <p class="verdict refused">
            <Icon name="close" /> No. This erasure was of another data subject.
          </p>
        )}
        {answer?.is === 'same' && (
          <p class={`verdict ${answer.verdict.state}`}>
            <Icon name={answer.verdict.state === 'verified' ? 'check' : 'alert'} />
            {answer.verdict.state === 'verified'
              ? 'Yes. The receipt verifies, and it is of this data subject.'
              : `It is the one, but: ${answer.verdict.why}`}
            <Button icon="download" onClick={() => saveText(`erasure-receipt-${index}.txt`, answer.receipt)}>
              Download the receipt
            </Button>
          </p>
        )}
      </div>
    </section>
  )
}
