import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Failure, Field } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { useForm } from '../form.ts'
import type { Certificate, ReceiptAgain } from '../types.ts'
import { type Verdict, verifyCertificate } from '../verify.ts'

type Answer = { is: 'another' } | { is: 'same'; number: number; receipt: string; verdict: Verdict }

/**
 * Checks an ID against erasures, and offers the receipt if it matches. The ID is sent in a body, never in a
 * URL.
 */
export function ReceiptBox({ certificates }: { certificates: Certificate[] }) {
  const [subjectId, setSubjectId] = useState('')
  const [answer, setAnswer] = useState<Answer | null>(null)
  const form = useForm()
  async function check(): Promise<void> {
    setAnswer(null)
    for (const certificate of certificates) {
      const { index } = certificate.erasure
      const { receipt } = await change<ReceiptAgain>('/erasures/receipt', { index, subjectId })
      if (receipt === null) continue
      const verdict = await verifyCertificate({ ...certificate, receipt }, subjectId)
      return setAnswer({ is: 'same', number: index + 1, receipt, verdict })
    }
    setAnswer({ is: 'another' })
  }
  const isOne = certificates.length === 1
  return (
    <section class="card receipt-box" aria-labelledby="check">
      <h2 id="check">Check a data subject</h2>
      <p class="muted">
        Enter a data subject ID to check whether {isOne ? 'this erasure' : 'one of these erasures'} was for
        that data subject. If it was, you can download the receipt.
      </p>
      <form onSubmit={form.submit(check)}>
        <Field
          label="Data subject ID"
          value={subjectId}
          onInput={(text) => {
            setSubjectId(text)
            setAnswer(null)
          }}
          problem={form.fields.subjectId}
          isCode
        />
        <Button type="submit" isBusy={form.isBusy}>
          Check ID
        </Button>
      </form>
      <Failure failure={form.failure} />
      <div role="status">
        {answer?.is === 'another' && (
          <p class="verdict refused">
            <Icon name="close" /> No.{' '}
            {isOne
              ? 'This erasure was for another data subject.'
              : 'These erasures were for other data subjects.'}
          </p>
        )}
        {answer?.is === 'same' && (
          <p class={`verdict ${answer.verdict.state}`}>
            <Icon name={answer.verdict.state === 'verified' ? 'check' : 'alert'} />
            {answer.verdict.state === 'verified'
              ? `Yes, in entry ${answer.number}. The receipt is valid and belongs to this data subject.`
              : `Entry ${answer.number} matches, but verification failed: ${answer.verdict.why}`}
            <Button
              icon="download"
              onClick={() => saveText(`erasure-receipt-${answer.number}.txt`, answer.receipt)}
            >
              Download the receipt
            </Button>
          </p>
        )}
      </div>
    </section>
  )
}

/** Saves a text as a file, from the browser's memory. */
export function saveText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
