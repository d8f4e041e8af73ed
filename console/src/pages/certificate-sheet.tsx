import type { ComponentChildren } from 'preact'
import { certificateAddress } from '../erased.ts'
import { ActorName } from '../parts/actor.tsx'
import { Icon, Logo } from '../parts/icon.tsx'
import { counted, formatNumber, When } from '../parts/when.tsx'
import type { Batch } from '../types.ts'
import type { Checked, Verdict } from '../verify.ts'
import { Seal } from './seal.tsx'

/** What a person's erasure did not erase, by the reason. */
export interface Missing {
  waiting: number
  stopped: number
  gone: number
  left: number
}

interface CertificateSheetProps {
  checked: Checked[]
  /** `null` for single entries, each of which is whole. */
  missing: Missing | null
  batch: Batch | null
}

/** The certificate itself: what is printed. */
export function CertificateSheet({ checked, missing, batch }: CertificateSheetProps) {
  const [first] = checked
  if (!first) return null
  const { organisation, scrub } = first.certificate
  const erasures = checked.map(({ certificate }) => certificate.erasure)
  const sessions = erasures.reduce((sum, { counts }) => sum + counts.sessions, 0)
  const events = erasures.reduce((sum, { counts }) => sum + counts.events, 0)
  const trackers = new Set(erasures.map(({ trackerId }) => trackerId)).size
  const isComplete = !missing || Object.values(missing).every((count) => count === 0)
  const ofWhom = batch && isComplete && erasures.length > 1 ? ' of one person' : ''
  const whom = `${counted(erasures.length, 'data subject')}${ofWhom} on ${counted(trackers, 'tracker')}`
  const numbers = erasures.map(({ index }) => index + 1)
  const address = certificateAddress(batch?.id ?? numbers.join(','))
  return (
    <article class="sheet" aria-label="Certificate of erasure">
      <header>
        <p class="sheet-brand">
          <Logo />
          <span>
            <strong>Lethe</strong>
            <small>{organisation}</small>
          </span>
        </p>
        <Seal states={checked.map(({ verdict }) => verdict.state)} isComplete={isComplete} />
      </header>
      <p class="sheet-kind">Certificate of erasure</p>
      <p class="sheet-figure">{headline(sessions, events)}</p>
      <p class="sheet-lead">
        {!isComplete
          ? `Part of what was stored about one person: ${whom}`
          : `Everything that was stored about ${erasures.length === 1 ? 'one data subject' : whom}`}
        , erased for good on <When at={erasures.at(-1)?.erasedAt ?? null} as="exact" />.
      </p>
      {missing && !isComplete && <NotErased {...missing} />}
      {checked.map((each) => (
        <Entry key={each.certificate.erasure.index} {...each} />
      ))}
      <section class="sheet-notes">
        <Scrub {...{ scrub }} erasedAt={erasures.at(-1)?.erasedAt ?? ''} />
        <p>
          This certificate does not tell who was erased, and nothing here does. A receipt proves it to whoever
          knows the data subject’s id: <code>lethe receipts verify</code> or the page{' '}
          <a href="/verify" target="_blank" rel="noreferrer">{`${location.origin}/verify`}</a>, which also
          works offline, checks one with the key below.
        </p>
        <p class="screen-only">
          {checked.map(({ certificate: { erasure } }) => (
            <a
              key={erasure.index}
              href={`/console/api/ledger/entry?index=${erasure.index}`}
              download={`ledger-entry-${erasure.index + 1}.json`}
            >
              Entry {erasure.index + 1} with its proof
            </a>
          ))}
        </p>
        <dl class="keys">
          <div>
            <dt>This certificate stays at</dt>
            <dd>
              <code>{location.origin + address}</code>
            </dd>
          </div>
          {first.certificate.verifierKeys.map((key) => (
            <div key={key}>
              <dt>Verifier key</dt>
              <dd>
                <code>{key}</code>
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </article>
  )
}

/** What was not erased, and why. */
function NotErased({ waiting, stopped, gone, left }: Missing) {
  const reasons = [
    [waiting, 'not erased yet'],
    [stopped, 'not erased: the erasure was stopped'],
    [gone, 'removed with the tracker, without a receipt'],
    [left, 'with new data, which came in after the last search for this person'],
  ] as const
  return (
    <div class="missing">
      <p>
        <Icon name="alert" /> <strong>Not everything was erased.</strong>
      </p>
      <ul>
        {reasons.map(
          ([count, reason]) =>
            count > 0 && (
              <li key={reason}>
                {counted(count, 'data subject')} {reason}
              </li>
            ),
        )}
      </ul>
    </div>
  )
}

function headline(sessions: number, events: number): string {
  if (sessions === 0 && events === 0) return 'Nothing was held'
  return `${counted(events, 'event')} in ${counted(sessions, 'session')}`
}

function Entry({ certificate: { erasure, trackerName }, verdict }: Checked) {
  const { index, erasedAt, trackerId, counts, by } = erasure
  return (
    <section class="entry" aria-label={`Entry ${index + 1} of the ledger`}>
      <dl>
        <Fact title="Ledger entry">
          No. {index + 1}
          {verdict.state === 'verified' && ` of ${formatNumber(verdict.checkpoint.size)}`}
        </Fact>
        <Fact title="Tracker">{trackerName ?? trackerId}</Fact>
        <Fact title="Deleted">
          {counted(counts.sessions, 'session')}, {counted(counts.events, 'event')}
        </Fact>
        <Fact title="Erased at">
          <time datetime={erasedAt}>{`${erasedAt.slice(0, 10)} ${erasedAt.slice(11, 19)} UTC`}</time>
        </Fact>
        <Fact title="Carried out by">{by ? <ActorName actor={by.actor} /> : 'no longer known'}</Fact>
        <Fact title="Request id">{by?.requestId ? <code class="wrap">{by.requestId}</code> : 'none'}</Fact>
      </dl>
      <Checks verdict={verdict} />
    </section>
  )
}

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What this browser has checked, each with what it goes by. */
function Checks({ verdict }: { verdict: Verdict }) {
  if (verdict.state !== 'verified') {
    return (
      <p class={`checks ${verdict.state}`}>
        <Icon name="alert" />
        {verdict.state === 'refused' ? 'It does not verify: ' : 'This browser cannot verify it: '}
        {verdict.why}
      </p>
    )
  }
  const { checkpoint, hasReceipt } = verdict
  return (
    <ul class="checks" aria-label="Checked in this browser">
      <Check what="The entry stands in the ledger’s tree">
        whose root is <code>{checkpoint.rootHash}</code>
      </Check>
      <Check what="The ledger is signed">
        by <code>{checkpoint.origin}</code>
      </Check>
      {hasReceipt && <Check what="The receipt is good">and proves it to whoever knows the id</Check>}
    </ul>
  )
}

function Check({ what, children }: { what: string; children: ComponentChildren }) {
  return (
    <li>
      <Icon name="check" />
      <span>
        <strong>{what}</strong> <span class="muted">{children}</span>
      </span>
    </li>
  )
}

/** What becomes of the bytes that a store's files may still hold. */
function Scrub({
  scrub,
  erasedAt,
}: {
  scrub: { lastAt: string; reachesEveryByte: boolean }
  erasedAt: string
}) {
  const isDone = scrub.lastAt > erasedAt
  const what = scrub.reachesEveryByte
    ? 'leaves not one byte of it in the store’s files'
    : 'frees the room it took in the store’s files'
  return (
    <p>
      <strong>{isDone ? 'Scrubbed.' : 'The scrub follows.'}</strong> No query finds it since that moment.{' '}
      {isDone ? (
        <>
          The scrub of <When at={scrub.lastAt} /> {what}.
        </>
      ) : (
        <>The next scrub, by itself at night, {what}.</>
      )}{' '}
      What happened before and comes in later, by an import or from a backup, is refused.
    </p>
  )
}
