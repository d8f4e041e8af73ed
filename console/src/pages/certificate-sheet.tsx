import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Icon } from '../components/icon.tsx'
import type { OrganisationProfile } from '../types.ts'
import { CertificateEntries } from './certificate-entries.tsx'
import { CertificateProof } from './certificate-proof.tsx'
import { actorIn, type Words } from './certificate-texts.ts'
import { type Certified, daysBetween, type Missing, type Summary, summarise } from './certified.ts'
import { OrganisationLogo } from './profile-card.tsx'

interface CertificateSheetProps {
  certified: Certified
  profile: OrganisationProfile
  words: Words
  /** The permanent path of the certificate. */
  address: string
}

/** The printable certificate: what happened, the figures, the ledger's entries, and how to check them. */
export function CertificateSheet({ certified, profile, words, address }: CertificateSheetProps) {
  const { texts, language } = words
  const summary = summarise(certified)
  const organisation = profile.displayName ?? profile.organisation
  const { what } = summary.happened
  const title = texts.title[what === 'nothing-held' ? 'nothing' : 'erased']
  const name = `${title} ${texts.number(summary.numbers)}`
  useRunningHead(`${organisation} · ${name}`)
  return (
    <article class="sheet" lang={language} aria-label={title}>
      <header>
        <p class="sheet-brand">
          <OrganisationLogo logo={profile.logo} />
          <strong>{organisation}</strong>
        </p>
        <Seal state={summary.state} words={words} />
      </header>
      <p class="sheet-kind">
        {title} <span>{texts.number(summary.numbers)}</span>
      </p>
      <h2 class="sheet-figure">{texts.happened(summary.happened)}</h2>
      {certified.erasure && <NotErased missing={certified.erasure.missing} words={words} />}
      <Figures {...{ certified, summary, words }} />
      {certified.erasure !== null && certified.erasure.excluded > 0 && (
        <p class="sheet-note">{texts.excluded(certified.erasure.excluded, words)}</p>
      )}
      <CertificateEntries
        checked={certified.checked}
        hasActors={summary.actors.length > 1}
        hasHidden={summary.hasHidden}
        words={words}
      />
      <CertificateProof {...{ certified, organisation, words, address }} />
    </article>
  )
}

/** A text at the top of every printed page but the first. The style sheet cannot quote the page. */
function useRunningHead(text: string): void {
  useEffect(() => {
    const { style } = document.documentElement
    style.setProperty('--running-head', JSON.stringify(text))
    return () => {
      style.removeProperty('--running-head')
    }
  }, [text])
}

function Figures({ certified, summary, words }: { certified: Certified; summary: Summary; words: Words }) {
  const { texts, number } = words
  const { counts, at, actors, requestIds } = summary
  const figures = [
    [counts.records, texts.record],
    [counts.sessions, texts.visit],
    [counts.events, texts.event],
  ] as const
  const {
    receivedAt = null,
    dueAt = null,
    closedAt = null,
    reference = null,
    state = null,
  } = certified.erasure?.request ?? {}
  const [actor, ...otherActors] = actors
  const [requestId, ...otherIds] = requestIds
  const day = (when: string) => <time datetime={when}>{words.day(when)}</time>
  return (
    <>
      {counts.records > 0 && (
        <dl class="sheet-figures">
          {figures.map(([count, [one, many]]) => (
            <div key={one}>
              <dt>{count === 1 ? one : many}</dt>
              <dd>{number(count)}</dd>
            </div>
          ))}
        </dl>
      )}
      <dl class="sheet-facts">
        {receivedAt !== null && <Fact title={texts.receivedOn}>{day(receivedAt)}</Fact>}
        {dueAt !== null && <Fact title={texts.dueOn}>{day(dueAt)}</Fact>}
        <Fact title={counts.records > 0 ? texts.erasedOn : texts.searchedOn}>{day(at)}</Fact>
        {receivedAt !== null && closedAt !== null && (
          <Fact title={state === 'cancelled' ? texts.cancelledOn : texts.answeredOn}>
            {day(closedAt)} <small>{texts.after(daysBetween(receivedAt, closedAt))}</small>
          </Fact>
        )}
        {actor && otherActors.length === 0 && <Fact title={texts.carriedOutBy}>{actorIn(words, actor)}</Fact>}
        {reference !== null && <Fact title={texts.reference}>{reference}</Fact>}
        {requestId !== undefined && otherIds.length === 0 && (
          <Fact title={texts.requestId}>
            <code>{requestId}</code>
          </Fact>
        )}
      </dl>
    </>
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

/** What was not erased, and why. */
function NotErased({ missing, words: { texts, counted } }: { missing: Missing; words: Words }) {
  const reasons = (['waiting', 'stopped', 'gone', 'left'] as const).filter((reason) => missing[reason] > 0)
  if (reasons.length === 0) return null
  return (
    <div class="missing">
      <p>
        <Icon name="alert" /> <strong>{texts.missing.title}</strong>
      </p>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>
            {counted(missing[reason], texts.record)} {texts.missing[reason]}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The overall result of all checks. */
function Seal({ state, words: { texts } }: { state: Summary['state']; words: Words }) {
  return (
    <p class={`seal ${state}`} role="status">
      <svg viewBox="0 0 64 64" aria-hidden="true" focusable="false">
        <circle class="ring" cx="32" cy="32" r="30" />
        <circle class="teeth" cx="32" cy="32" r="25.500" />
        <path d={state === 'verified' ? 'm21 33 8 8 15-17' : 'M32 18v18m0 8v.5'} />
      </svg>
      <span>
        <strong>{texts.seal[state]}</strong>
        <small>{state === 'incomplete' ? texts.seal.seeDetails : texts.seal.inThisBrowser}</small>
      </span>
    </p>
  )
}
