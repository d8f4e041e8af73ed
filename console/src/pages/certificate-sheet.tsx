import type { ComponentChildren } from 'preact'
import { Icon, Logo } from '../components/icon.tsx'
import { ActorName } from '../components/values.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { certificateAddress } from '../erasure.ts'
import type { Batch, Certificate, LedgerErasure } from '../types.ts'
import type { Checked, Verdict } from '../verify.ts'

/** How many data subjects were not erased, by reason. */
export interface Missing {
  waiting: number
  stopped: number
  gone: number
  left: number
}

interface CertificateSheetProps {
  checked: Checked[]
  /** `null` for single entries, which are always complete. */
  missing: Missing | null
  batch: Batch | null
}

/** The printable certificate. */
export function CertificateSheet({ checked, missing, batch }: CertificateSheetProps) {
  const [first] = checked
  if (!first) return null
  const { organisation, scrub } = first.certificate
  const entries = checked.map(({ certificate }) => certificate.entry)
  const erasures = entries.filter((entry) => entry.kind === 'erasure')
  const sessions = erasures.reduce((sum, { counts }) => sum + counts.sessions, 0)
  const events = erasures.reduce((sum, { counts }) => sum + counts.events, 0)
  const trackers = new Set(erasures.map(({ trackerId }) => trackerId)).size
  const isComplete = !missing || Object.values(missing).every((count) => count === 0)
  const ofWhom = batch && isComplete && erasures.length > 1 ? ' of one person' : ''
  const whom = `${counted(erasures.length, 'data subject')}${ofWhom} on ${counted(trackers, 'tracker')}`
  const numbers = entries.map(({ index }) => index + 1)
  const address = certificateAddress(batch?.id ?? numbers.join(','))
  return (
    <article
      class="sheet"
      aria-label={erasures.length > 0 ? 'Certificate of erasure' : 'Certificate that nothing is held'}
    >
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
      {erasures.length > 0 ? (
        <>
          <p class="sheet-kind">Certificate of erasure</p>
          <p class="sheet-figure">{headline(sessions, events)}</p>
          <p class="sheet-lead">
            {isComplete
              ? `All data stored about ${erasures.length === 1 ? 'one data subject' : whom}`
              : `Part of the data stored about one person (${whom})`}{' '}
            was erased for good on <When at={erasures.at(-1)?.erasedAt ?? null} as="exact" />.
          </p>
        </>
      ) : (
        <>
          <p class="sheet-kind">Certificate that nothing is held</p>
          <p class="sheet-figure">Nothing was held</p>
          <p class="sheet-lead">
            No data about {entries.length === 1 ? 'one person' : counted(entries.length, 'identifier')} was
            stored on any tracker on <When at={instantOf(entries.at(-1))} as="exact" />.
          </p>
        </>
      )}
      {missing && !isComplete && <NotErased {...missing} />}
      {checked.map((each) => (
        <Entry key={each.certificate.entry.index} {...each} />
      ))}
      <section class="sheet-notes">
        {erasures.length > 0 && <Scrub {...{ scrub }} erasedAt={erasures.at(-1)?.erasedAt ?? ''} />}
        <p>
          This certificate does not identify anyone. A receipt proves an erasure to anyone who knows the data
          subject’s ID, and that nothing was held to anyone who knows the identifier. To verify a receipt with
          the key below, run <code>lethe receipts verify</code> or open{' '}
          <a href="/verify" target="_blank" rel="noreferrer">{`${location.origin}/verify`}</a>, which also
          works offline.
        </p>
        <p class="screen-only">
          {entries.map(({ index }) => (
            <a
              key={index}
              href={`/console/api/ledger/entry?index=${index}`}
              download={`ledger-entry-${index + 1}.json`}
            >
              Download entry {index + 1} with its proof
            </a>
          ))}
        </p>
        <dl class="keys">
          <div>
            <dt>Permanent address</dt>
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
    [left, 'with new data that arrived after the last search for this person'],
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
  if (sessions === 0 && events === 0) return 'No data was stored'
  return `${counted(events, 'event')} in ${counted(sessions, 'session')}`
}

function Entry({ certificate: { entry, trackerName }, verdict }: Checked) {
  return (
    <section class="entry" aria-label={`Ledger entry ${entry.index + 1}`}>
      <dl>
        <Fact title="Ledger entry">
          No. {entry.index + 1}
          {verdict.state === 'verified' && ` of ${formatNumber(verdict.checkpoint.size)}`}
        </Fact>
        {entry.kind === 'erasure' ? (
          <ErasureFacts {...entry} tracker={trackerName ?? entry.trackerId} />
        ) : (
          <>
            <Fact title="Trackers">all</Fact>
            <Fact title="Found">nothing</Fact>
            <Fact title="Checked at">
              <Instant at={entry.checkedAt} />
            </Fact>
          </>
        )}
      </dl>
      <Checks verdict={verdict} />
    </section>
  )
}

function ErasureFacts({ tracker, counts, erasedAt, by }: LedgerErasure & { tracker: string }) {
  return (
    <>
      <Fact title="Tracker">{tracker}</Fact>
      <Fact title="Deleted">
        {counted(counts.sessions, 'session')}, {counted(counts.events, 'event')}
      </Fact>
      <Fact title="Erased at">
        <Instant at={erasedAt} />
      </Fact>
      <Fact title="Carried out by">{by ? <ActorName actor={by.actor} /> : 'no longer recorded'}</Fact>
      <Fact title="Request ID">{by?.requestId ? <code class="wrap">{by.requestId}</code> : 'none'}</Fact>
    </>
  )
}

function Instant({ at }: { at: string }) {
  return <time datetime={at}>{`${at.slice(0, 10)} ${at.slice(11, 19)} UTC`}</time>
}

function instantOf(entry: Certificate['entry'] | undefined): string | null {
  if (!entry) return null
  return entry.kind === 'erasure' ? entry.erasedAt : entry.checkedAt
}

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What this browser has verified. */
function Checks({ verdict }: { verdict: Verdict }) {
  if (verdict.state !== 'verified') {
    return (
      <p class={`checks ${verdict.state}`}>
        <Icon name="alert" />
        {verdict.state === 'refused' ? 'Verification failed: ' : 'This browser cannot verify this entry: '}
        {verdict.why}
      </p>
    )
  }
  const { checkpoint, hasReceipt } = verdict
  return (
    <ul class="checks" aria-label="Checked in this browser">
      <Check what="The entry is in the ledger">
        with the root hash <code>{checkpoint.rootHash}</code>
      </Check>
      <Check what="The ledger is signed">
        by <code>{checkpoint.origin}</code>
      </Check>
      {hasReceipt && (
        <Check what="The receipt is valid">and proves it to anyone who knows the ID or identifier</Check>
      )}
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

/** Whether the deleted bytes are gone from the store's files. */
function Scrub({
  scrub,
  erasedAt,
}: {
  scrub: { lastAt: string; reachesEveryByte: boolean }
  erasedAt: string
}) {
  const isDone = scrub.lastAt > erasedAt
  const [removed, remove] = scrub.reachesEveryByte
    ? ['removed every byte of it from', 'remove every byte of it from']
    : ['freed the space it used in', 'free the space it used in']
  return (
    <p>
      <strong>{isDone ? 'Scrubbed.' : 'Scrub pending.'}</strong> The data has been inaccessible since its
      erasure.{' '}
      {isDone ? (
        <>
          The scrub on <When at={scrub.lastAt} /> {removed} the store’s files.
        </>
      ) : (
        <>The next nightly scrub will {remove} the store’s files.</>
      )}{' '}
      Earlier data that arrives later, from an import or a backup, is rejected.
    </p>
  )
}

const words = {
  verified: 'Verified',
  refused: 'Not verified',
  unknown: 'Not checked',
  incomplete: 'Incomplete',
}

/** The overall result of all checks. */
function Seal({ states, isComplete }: { states: Verdict['state'][]; isComplete: boolean }) {
  const state =
    states.find((each) => each === 'refused') ??
    states.find((each) => each === 'unknown') ??
    (isComplete ? 'verified' : 'incomplete')
  return (
    <p class={`seal ${state}`} role="status">
      <svg viewBox="0 0 64 64" aria-hidden="true" focusable="false">
        <circle class="ring" cx="32" cy="32" r="30" />
        <circle class="teeth" cx="32" cy="32" r="25.500" />
        <path d={state === 'verified' ? 'm21 33 8 8 15-17' : 'M32 18v18m0 8v.5'} />
      </svg>
      <span>
        <strong>{words[state]}</strong>
        <small>{state === 'incomplete' ? 'see details' : 'in this browser'}</small>
      </span>
    </p>
  )
}
