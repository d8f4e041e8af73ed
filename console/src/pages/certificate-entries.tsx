import type { ComponentChildren } from 'preact'
import { Icon } from '../components/icon.tsx'
import type { Certificate } from '../types.ts'
import type { Checked, Verdict } from '../verify.ts'
import { actorIn, type Words } from './certificate-texts.ts'
import { instantOf } from './certified.ts'

interface EntriesProps {
  checked: readonly Checked[]
  words: Words
}

interface ListedEntriesProps extends EntriesProps {
  hasActors: boolean
  hasHidden: boolean
}

/** The ledger's entries of a certificate, and the result of verifying all of them. */
export function CertificateEntries({ checked, hasActors, hasHidden, words }: ListedEntriesProps) {
  const { entries, carriedOutBy } = words.texts
  return (
    <section class="sheet-entries">
      <h3>{entries.title}</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">{entries.number}</th>
            <th scope="col">{entries.where}</th>
            <th scope="col">{entries.what}</th>
            <th scope="col">{entries.when}</th>
            {hasActors && <th scope="col">{carriedOutBy}</th>}
          </tr>
        </thead>
        <tbody>
          {checked.map(({ certificate }) => (
            <EntryRow key={certificate.entry.index} {...{ certificate, hasActors, hasHidden, words }} />
          ))}
        </tbody>
      </table>
      <Checks checked={checked} words={words} />
    </section>
  )
}

interface EntryRowProps {
  certificate: Certificate
  hasActors: boolean
  hasHidden: boolean
  words: Words
}

function EntryRow({ certificate, hasActors, hasHidden, words }: EntryRowProps) {
  const { entry, trackerName, identifier } = certificate
  const { texts, number, counted, moment } = words
  const at = instantOf(entry)
  const isErasure = entry.kind === 'erasure'
  const by = isErasure ? entry.by : null
  return (
    <tr>
      <th scope="row">
        <a
          href={`/console/api/ledger/entry?index=${entry.index}`}
          download={`ledger-entry-${entry.index + 1}.json`}
          title={texts.entries.download}
        >
          {number(entry.index + 1)}
        </a>
      </th>
      <td>{isErasure ? (trackerName ?? entry.trackerId) : texts.entries.everywhere}</td>
      <td>
        {isErasure && entry.counts.sessions + entry.counts.events > 0
          ? `${counted(entry.counts.sessions, texts.visit)}, ${counted(entry.counts.events, texts.event)}`
          : isErasure && hasHidden
            ? texts.entries.nothingVisible
            : texts.entries.nothing(identifier)}
      </td>
      <td>
        <time datetime={at}>{moment(at)}</time>
      </td>
      {hasActors && (
        <td>
          {by ? actorIn(words, by.actor) : texts.byNobodyKnown}
          {by?.requestId && <code>{by.requestId}</code>}
        </td>
      )}
    </tr>
  )
}

/** What this browser has verified, once for all entries. */
function Checks({ checked, words }: EntriesProps) {
  const { checks } = words.texts
  const failed = checked.filter(({ verdict }) => verdict.state !== 'verified')
  if (failed.length > 0) {
    return (
      <ul class="checks" aria-label={checks.title}>
        {failed.map(({ certificate: { entry }, verdict }) => (
          <FailedCheck
            key={entry.index}
            verdict={verdict}
            number={words.number(entry.index + 1)}
            words={words}
          />
        ))}
      </ul>
    )
  }
  const heads = checked.flatMap(({ verdict }) => (verdict.state === 'verified' ? [verdict.checkpoint] : []))
  const head = heads.toSorted((a, b) => b.size - a.size)[0]
  if (!head) return null
  const receipts = checked.filter(({ certificate }) => certificate.receipt !== null).length
  return (
    <ul class="checks" aria-label={checks.title}>
      <Check what={checks.entries(checked.length, words)}>
        {checks.root(words.counted(head.size, checks.size))} <code>{head.rootHash}</code>
      </Check>
      <Check what={checks.signed}>
        {checks.by} <code>{head.origin}</code>
      </Check>
      {receipts > 0 && <Check what={checks.receipts(receipts, checked.length, words)}>{checks.proof}</Check>}
    </ul>
  )
}

function FailedCheck({ verdict, number, words }: { verdict: Verdict; number: string; words: Words }) {
  if (verdict.state === 'verified') return null
  return (
    <li class={verdict.state}>
      <Icon name="alert" />
      <span>
        <strong>{words.texts.checks[verdict.state](number)}</strong> {verdict.why}
      </span>
    </li>
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
