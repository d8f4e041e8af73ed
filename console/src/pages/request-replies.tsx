import { useId, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { useNow } from '../components/due-ring.tsx'
import { Choice, useCopying } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { LoadError, Skeleton } from '../components/states.tsx'
import { When } from '../components/when.tsx'
import { deadlineOf } from '../due.ts'
import { languages, replyTitle } from '../replies.ts'
import { isClosed } from '../requests.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { For, useMay } from '../session.tsx'
import type { RequestPage, RequestReply } from '../types.ts'
import { CertificateLink, ExportLink } from './request-actions.tsx'

/** Texts that announce an answer. */
const isPromise = /\.(?:received|more-information|extended)$/

/** The texts to answer with, with the facts filled in. */
export function RequestReplies({ page }: { page: RequestPage }) {
  const { request } = page
  const [language, setLanguage] = useState<'en' | 'de' | null>(null)
  const query = language === null ? '' : `?language=${language}`
  // The facts depend on what the request has become.
  const reply = useResource<RequestReply>(`/requests/${request.requestId}/reply${query}`)
  const { data, error, reload } = reply
  return (
    <section class="card replies-card" aria-labelledby="reply">
      <header>
        <h2 id="reply">Reply</h2>
        {data && (
          <Choice
            label="Language"
            value={language ?? data.language}
            choices={languages}
            onChange={(each) => setLanguage(each)}
            isSmall
          />
        )}
      </header>
      {error ? (
        <LoadError error={error} onRetry={reload} />
      ) : data ? (
        <Replies key={`${data.language} ${data.suggested}`} reply={data} page={page} />
      ) : (
        <Skeleton lines={5} label="Loading the reply" />
      )}
    </section>
  )
}

function Replies({
  reply: { suggested, replies, language },
  page,
}: {
  reply: RequestReply
  page: RequestPage
}) {
  const { request } = page
  const [name, setName] = useState(suggested ?? replies[0]?.name ?? '')
  const id = useId()
  const now = useNow()
  const text = replies.find((each) => each.name === name)?.text ?? ''
  const { area, isCopied, copy } = useCopying('Reply', text)
  const mayExport = useMay('desk')
  // While an erasure runs, a copy would lack what is already erased.
  const isExportable = request.state === 'open' && request.found.subjects > 0
  return (
    <>
      {replies.length > 1 && (
        <div class="field inline">
          <label for={id}>Text</label>
          <select id={id} value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {replies.map((each) => (
              <option key={each.name} value={each.name}>
                {replyTitle(each.name)}
                {each.name === suggested && ' (suggested)'}
              </option>
            ))}
          </select>
        </div>
      )}
      {isPromise.test(name) && !isClosed(request) && deadlineOf(request, now).urgency === 'overdue' && (
        <p class="note problem">
          <Icon name="alert" />
          <span>
            The answer was due on <When at={request.dueAt} as="day" />. If the text promises it by then,
            change the date in your mail.
          </span>
        </p>
      )}
      <textarea
        ref={area}
        class="prose-lines"
        readOnly
        rows={10}
        value={text}
        lang={language}
        aria-label="Reply text"
      />
      <div class="actions">
        <Button kind="primary" icon={isCopied ? 'check' : 'copy'} onClick={copy}>
          {isCopied ? 'Copied' : 'Copy reply'}
        </Button>
        {isExportable && mayExport && <ExportLink requestId={request.requestId} />}
        <CertificateLink page={page} />
      </div>
      <p class="note">
        Lethe sends nothing. Copy the text into your own mail, and attach what belongs to it.{' '}
        <For least="admin">
          <Link to="/console/settings/replies">Edit the texts</Link>
        </For>
      </p>
    </>
  )
}
