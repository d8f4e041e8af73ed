import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Failure, Field } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { useForm } from '../form.ts'
import { For } from '../session.tsx'
import type { Certificate, Identifier, ReceiptAgain } from '../types.ts'
import { type Verdict, verifyCertificate } from '../verify.ts'

type Answer = { is: 'another' } | { is: 'same'; number: number; receipt: string; verdict: Verdict }

/**
 * Checks an ID against entries, and offers the receipt if it matches: a data subject ID for erasures, an
 * identifier for entries that nothing was held. It is sent in a body, never in a URL.
 */
export function ReceiptBox({ certificates }: { certificates: Certificate[] }) {
  const erasures = certificates.filter(({ entry }) => entry.kind === 'erasure')
  const others = certificates.filter(({ entry }) => entry.kind === 'nothing-held')
  return (
    <For least="desk">
      {erasures.length > 0 && <SubjectBox certificates={erasures} />}
      {others.length > 0 && <IdentifierBox certificates={others} />}
    </For>
  )
}

interface BoxProps {
  certificates: Certificate[]
}

function SubjectBox({ certificates }: BoxProps) {
  const [subjectId, setSubjectId] = useState('')
  const box = useAnswer(certificates, { subjectId })
  const isOne = certificates.length === 1
  return (
    <section class="card receipt-box" aria-labelledby="check">
      <h2 id="check">Check a data subject</h2>
      <p class="muted">
        Enter a data subject ID to check whether {isOne ? 'this erasure' : 'one of these erasures'} was for
        that data subject. If it was, you can download the receipt.
      </p>
      <form onSubmit={box.submit}>
        <Field
          label="Data subject ID"
          value={subjectId}
          onInput={setSubjectId}
          problem={box.form.fields.subjectId}
          isCode
        />
        <Button type="submit" isBusy={box.form.isBusy}>
          Check ID
        </Button>
      </form>
      <Failure failure={box.form.failure} />
      <AnswerText
        answer={box.answer}
        whom="data subject"
        another={
          isOne
            ? 'This erasure was for another data subject.'
            : 'These erasures were for other data subjects.'
        }
      />
    </section>
  )
}

function IdentifierBox({ certificates }: BoxProps) {
  const [identifier, setIdentifier] = useState<Identifier>({ name: 'email', value: '' })
  const box = useAnswer(certificates, { identifier })
  const write = (changed: Partial<Identifier>) => setIdentifier({ ...identifier, ...changed })
  return (
    <section class="card receipt-box" aria-labelledby="check-identifier">
      <h2 id="check-identifier">Check an identifier</h2>
      <p class="muted">
        Enter an identifier, such as an e-mail address, to check whether it is the one about which nothing was
        held. If it is, you can download the receipt.
      </p>
      <form onSubmit={box.submit}>
        <Field
          label="Name"
          value={identifier.name}
          onInput={(name) => write({ name })}
          problem={box.form.fields.identifier}
          isCode
        />
        <Field label="Value" value={identifier.value} onInput={(value) => write({ value })} isCode />
        <Button type="submit" isBusy={box.form.isBusy}>
          Check identifier
        </Button>
      </form>
      <Failure failure={box.form.failure} />
      <AnswerText answer={box.answer} whom="person" another="Nothing was held about another identifier." />
    </section>
  )
}

/** A form that asks the service whether one of the entries is about someone. */
function useAnswer(certificates: Certificate[], sought: { subjectId: string } | { identifier: Identifier }) {
  const [answered, setAnswered] = useState<{ question: string; answer: Answer } | null>(null)
  const form = useForm('subjectId' in sought ? 'subjectId' : 'identifier')
  // The field may have changed while the answer was on its way.
  const question = JSON.stringify(sought)
  const answer = answered?.question === question ? answered.answer : null
  async function check(): Promise<void> {
    setAnswered(null)
    const setAnswer = (answer: Answer) => setAnswered({ question, answer })
    for (const certificate of certificates) {
      const { index } = certificate.entry
      const { receipt } = await change<ReceiptAgain>('/erasures/receipt', { index, ...sought })
      if (receipt === null) continue
      const verdict = await verifyCertificate({ ...certificate, receipt }, sought)
      return setAnswer({ is: 'same', number: index + 1, receipt, verdict })
    }
    setAnswer({ is: 'another' })
  }
  return { form, answer, submit: form.submit(check) }
}

function AnswerText({ answer, whom, another }: { answer: Answer | null; whom: string; another: string }) {
  return (
    <div role="status">
      {answer?.is === 'another' && (
        <p class="verdict refused">
          <Icon name="close" /> No. {another}
        </p>
      )}
      {answer?.is === 'same' && (
        <p class={`verdict ${answer.verdict.state}`}>
          <Icon name={answer.verdict.state === 'verified' ? 'check' : 'alert'} />
          {answer.verdict.state === 'verified'
            ? `Yes, in entry ${answer.number}. The receipt is valid and belongs to this ${whom}.`
            : `Entry ${answer.number} matches, but verification failed: ${answer.verdict.why}`}
          <Button icon="download" onClick={() => saveText(`receipt-${answer.number}.txt`, answer.receipt)}>
            Download the receipt
          </Button>
        </p>
      )}
    </div>
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
