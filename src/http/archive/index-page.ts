import { dayMs, type Instant } from '../../domain/instant.ts'
import type { Language } from '../../domain/language.ts'
import type { SubjectIdentifier } from '../../domain/subject-identifier.ts'
import { html, type Markup } from '../markup.ts'
import { fieldName } from './index-fields.ts'
import { Formats } from './index-formats.ts'
import { recordSection } from './index-record.ts'
import { indexStyle } from './index-style.ts'
import { texts } from './index-texts.ts'
import { type MonthCounts, maxRecords, type PersonFacts, type RecordEntry } from './record-facts.ts'

/** What the index says besides the data. */
export interface ArchiveContext {
  language: Language
  organisation: {
    name: string
    /** Whom to ask, in lines; `null` if that is not stated. */
    contact: string | null
  }
  request: {
    reference: string | null
    receivedAt: Instant
    /** What the person was found by. */
    identifiers: readonly SubjectIdentifier[]
  }
  /** Whether something is stored that the retention window hides, which is not part of the copy. */
  hasHidden: boolean
  madeAt: Instant
  /** The retention window in days. */
  keptDays: number
  /** The names of trackers by their IDs. */
  trackers: ReadonlyMap<string, string>
}

export const schemaFile = 'subject-export.schema.json'

/** The chart shows the last months only. */
const maxMonths = 24

/** The index of a person's export, piece by piece: one HTML page that loads nothing and runs nothing. */
export function* indexPage(context: ArchiveContext, facts: PersonFacts): Generator<Markup> {
  const formats = new Formats(context.language)
  yield pageHead(context, facts, formats)
  yield overview(context, facts, formats)
  yield files(context, facts, formats)
  for (const record of facts.shown) yield recordSection(record, trackerName(context, record), formats)
  const unseen = facts.totals.records - facts.shown.length
  if (unseen > 0)
    yield html`<section><p>${formats.say(texts.moreRecords)(formats.number(unseen))}</p></section>`
  if (facts.totals.records > 0) yield meaning(formats)
  yield keeping(context, facts, formats)
  yield asking(context, formats)
  yield html`</main>
</body>
</html>
`
}

function pageHead(
  { language, organisation, request, hasHidden, madeAt }: ArchiveContext,
  facts: PersonFacts,
  formats: Formats,
) {
  const { name } = organisation
  const emptyLead = hasHidden ? texts.hiddenLead : texts.nothingLead
  const lead = facts.totals.records > 0 ? texts.lead : emptyLead
  const entries = [
    [texts.requestedOn, formats.day(request.receivedAt)],
    [texts.copiedAt, formats.say(texts.inUtc)(formats.moment(madeAt))],
    ...(request.reference === null ? [] : [[texts.reference, request.reference] as const]),
  ] as const
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${formats.say(texts.title)(name)}</title>
<style>${indexStyle}</style>
</head>
<body>
<header>
<p class="organisation"><bdi>${name}</bdi></p>
<h1>${formats.say(texts.heading)}</h1>
<p class="lead">${formats.say(lead)(name)}</p>
<dl>${entries.map(([term, value]) => html`<div><dt>${formats.say(term)}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
</header>
<main>
`
}

function periodInWords(first: string, last: string, formats: Formats): string {
  return first === last ? formats.say(texts.day)(first) : formats.say(texts.period)(first, last)
}

function overview({ request }: ArchiveContext, facts: PersonFacts, formats: Formats): Markup {
  const { totals, firstSeenAt, lastSeenAt } = facts
  const figures = [
    [totals.records, texts.records],
    [totals.sessions, texts.visits],
    [totals.events, texts.events],
  ] as const
  const isEmpty = totals.records === 0
  return html`<section>
<h2>${formats.say(texts.overview)}</h2>
<ul class="figures">${figures.map(([count, noun]) => html`<li><strong>${formats.number(count)}</strong> ${formats.say(noun)[count === 1 ? 0 : 1]}</li>`)}</ul>
${isEmpty ? null : html`<p>${periodInWords(formats.day(firstSeenAt), formats.day(lastSeenAt), formats)}</p>`}
<p class="note">${formats.say(texts.words)}</p>
${isEmpty ? null : months(facts.months, formats)}
${searched(request.identifiers, formats)}
</section>
`
}

function searched(identifiers: readonly SubjectIdentifier[], formats: Formats): Markup {
  if (identifiers.length === 0) return html`<p>${formats.say(texts.searchedRecords)}</p>`
  const terms = identifiers.map(
    ({ name, value }) =>
      html`<li><span class="quiet">${fieldName(name, formats)}:</span> <bdi>${value}</bdi></li>`,
  )
  return html`<h3>${formats.say(texts.searchedFor)}</h3>
<ul class="terms">${terms}</ul>
<p class="note">${formats.say(texts.searchedEverywhere)}</p>`
}

function months(counts: ReadonlyMap<number, MonthCounts>, formats: Formats): Markup {
  const all = [...counts].sort(([a], [b]) => a - b)
  const shown = all.slice(-maxMonths)
  const most = Math.max(1, ...shown.map(([, each]) => each.sessions + each.events))
  const note =
    all.length > shown.length
      ? html` <span class="note">${formats.say(texts.lastMonths)(formats.number(maxMonths))}</span>`
      : null
  const rows = shown.map(([month, { sessions, events }]) => {
    const share = ((sessions + events) / most) * 100
    return html`<tr><th scope="row">${formats.month(month)}</th><td class="number">${formats.number(sessions)}</td><td class="number">${formats.number(events)}</td><td aria-hidden="true"><span class="bar" style="--share: ${share.toFixed(1)}%"></span></td></tr>
`
  })
  return html`<table class="months">
<caption>${formats.say(texts.months)}${note}</caption>
<colgroup><col><col><col><col></colgroup>
<thead><tr><th scope="col">${formats.say(texts.month)}</th><th scope="col" class="number">${formats.say(texts.visitsHead)}</th><th scope="col" class="number">${formats.say(texts.eventsHead)}</th><td aria-hidden="true"></td></tr></thead>
<tbody>
${rows}</tbody>
</table>
`
}

function files(context: ArchiveContext, { totals, listed, shown }: PersonFacts, formats: Formats): Markup {
  const isShown = new Set(shown.map(({ number }) => number))
  const recordRow = (entry: RecordEntry) => {
    const number = formats.number(entry.number)
    const text = formats.say(texts.recordFile)(number, trackerName(context, entry))
    const words = isShown.has(entry.number) ? html`<a href="#record-${entry.number}">${text}</a>` : text
    return html`<tr><td><a href="${entry.file}">${entry.file}</a></td><td>${words}</td></tr>
`
  }
  const more = totals.records - maxRecords.listed
  return html`<section>
<h2>${formats.say(texts.files)}</h2>
<table class="pairs">
<colgroup><col><col></colgroup>
<thead><tr><th scope="col">${formats.say(texts.file)}</th><th scope="col">${formats.say(texts.contents)}</th></tr></thead>
<tbody>
<tr><td>index.html</td><td>${formats.say(texts.thisPage)}</td></tr>
${listed.map(recordRow)}
${more > 0 ? html`<tr><td>records/&hellip;</td><td>${formats.say(texts.moreFiles)(formats.number(more))}</td></tr>` : null}
<tr><td><a href="${schemaFile}">${schemaFile}</a></td><td>${formats.say(texts.schemaFile)}</td></tr>
</tbody>
</table>
<p class="note">${formats.say(texts.howToRead)}</p>
<p class="note">${formats.say(texts.complete)}</p>
</section>
`
}

function meaning(formats: Formats): Markup {
  return html`<section>
<h2>${formats.say(texts.meaning)}</h2>
<p>${formats.say(texts.origin)}</p>
<p>${formats.say(texts.pseudonyms)}</p>
<p>${formats.say(texts.timesNote)}</p>
</section>
`
}

function keeping({ keptDays }: ArchiveContext, facts: PersonFacts, formats: Formats): Markup {
  return html`<section>
<h2>${formats.say(texts.keeping)}</h2>
<p>${formats.say(texts.keptFor)(formats.number(keptDays))}</p>
${facts.totals.records === 0 ? null : html`<p>${expiry(keptDays, facts, formats)}</p>`}
</section>
`
}

function expiry(keptDays: number, { firstSeenAt, lastSeenAt }: PersonFacts, formats: Formats): string {
  const first = formats.day(firstSeenAt + keptDays * dayMs)
  const last = formats.day(lastSeenAt + keptDays * dayMs)
  return first === last ? formats.say(texts.expiryOnce)(last) : formats.say(texts.expiry)(first, last)
}

function asking({ organisation, request }: ArchiveContext, formats: Formats): Markup {
  const { name, contact } = organisation
  const whom =
    contact === null
      ? html`<p>${formats.say(texts.answerUs)(name)}</p>`
      : html`<p>${formats.say(texts.askUs)(name)}</p>
<p class="contact">${contact}</p>`
  const mention =
    request.reference === null ? null : html`<p>${formats.say(texts.nameReference)(request.reference)}</p>`
  return html`<section>
<h2>${formats.say(texts.asking)}</h2>
${whom}
${mention}
<p>${formats.say(texts.authority)}</p>
</section>
`
}

function trackerName({ trackers }: ArchiveContext, { subject }: RecordEntry): string {
  return trackers.get(subject.trackerId) ?? subject.trackerId
}
