import { html, type Markup } from '../markup.ts'
import { details, eventName, type Field, fieldName, fieldsOf, fieldValue } from './index-fields.ts'
import type { Formats } from './index-formats.ts'
import { type Text, texts } from './index-texts.ts'
import type { RecordFacts } from './record-facts.ts'

/** How many fields and event names are listed. */
const maxFields = 50
const maxNames = 20

/** The section of one record: from where, who, when, what. */
export function recordSection(facts: RecordFacts, tracker: string, formats: Formats): Markup {
  const { number, file, record, subject } = facts
  const amounts = [
    formats.amount(record.counts.sessions, texts.visits),
    formats.amount(record.counts.events, texts.events),
    formats.say(texts.onDays)(formats.amount(facts.days, texts.daysOn)),
  ]
  const fact = (term: Text, value: Markup | string) => html`<dt>${formats.say(term)}</dt><dd>${value}</dd>
`
  return html`<section id="record-${number}">
<h2>${formats.say(texts.record)(formats.number(number))}: <bdi>${tracker}</bdi></h2>
<dl class="facts">
${fact(texts.from, html`<bdi>${tracker}</bdi>`)}
${fact(texts.id, html`<code>${subject.subjectId}</code>`)}
${fact(texts.firstSeen, formats.moment(record.firstSeenAt))}
${fact(texts.lastSeen, formats.moment(record.lastSeenAt))}
${fact(texts.size, amounts.join(', '))}
${fact(texts.completeIn, html`<a href="${file}">${file}</a>`)}
</dl>
${fieldTable(texts.identifiers, null, record.identifiers, formats)}
${fieldTable(texts.attributes, formats.say(texts.attributesNote), fieldsOf(record.attributes), formats)}
${nameTable(facts, formats)}
${visitTable(facts, formats)}
${eventTable(facts, formats)}
</section>
`
}

function fieldTable(title: Text, note: string | null, fields: readonly Field[], formats: Formats) {
  if (fields.length === 0) return null
  const rows = fields.slice(0, maxFields).map(
    (field) =>
      html`<tr><th scope="row"><bdi>${fieldName(field.name, formats)}</bdi></th><td><bdi>${fieldValue(field, formats)}</bdi></td></tr>
`,
  )
  const more = fields.length - maxFields
  const shown = more > 0 ? formats.say(texts.moreDetails)(formats.number(more)) : note
  return table('pairs', { title, note: shown, heads: [[texts.what], [texts.value]], rows }, formats)
}

function nameTable({ eventNames, otherEvents }: RecordFacts, formats: Formats): Markup | null {
  if (eventNames.length === 0) return null
  const others = eventNames.slice(maxNames).reduce((sum, { events }) => sum + events, otherEvents)
  const row = (name: Markup | string, events: number) =>
    html`<tr><th scope="row">${name}</th><td class="number">${formats.number(events)}</td></tr>
`
  const rows = eventNames.slice(0, maxNames).map(({ name, events }) => row(eventName(name, formats), events))
  if (others > 0) rows.push(row(formats.say(texts.otherNames), others))
  const heads = [[texts.event], [texts.eventsHead, 'number']] as const
  return table('names', { title: texts.byName, note: null, heads, rows }, formats)
}

function visitTable({ sessions, record, file }: RecordFacts, formats: Formats): Markup | null {
  const rows = sessions.map(
    ({ startedAt, endedAt, counts, attributes }) =>
      html`<tr><td>${formats.moment(startedAt)}</td><td>${formats.moment(endedAt)}</td><td class="number">${formats.number(counts.events)}</td><td>${details(attributes, formats)}</td></tr>
`,
  )
  const note = shownOf(rows.length, record.counts.sessions, file, formats)
  const heads = [[texts.started], [texts.ended], [texts.eventsHead, 'number'], [texts.details]] as const
  return table('visits', { title: texts.visitsHead, note, heads, rows }, formats)
}

function eventTable({ events, record, file }: RecordFacts, formats: Formats): Markup | null {
  const rows = events.map(
    ({ occurredAt, name, properties }) =>
      html`<tr><td>${formats.moment(occurredAt)}</td><td>${eventName(name, formats)}</td><td>${details(properties, formats)}</td></tr>
`,
  )
  const note = shownOf(rows.length, record.counts.events, file, formats)
  const heads = [[texts.when], [texts.event], [texts.details]] as const
  return table('rows', { title: texts.eventsHead, note, heads, rows }, formats)
}

/** Says where the others are, if not all rows are shown. */
function shownOf(shown: number, all: number, file: string, formats: Formats): string | null {
  const total = formats.number(all)
  if (shown === all) return null
  if (shown === 0) return formats.say(texts.onlyInFile)(total, file)
  return formats.say(texts.newestOf)(formats.number(shown), total, file)
}

interface TableParts {
  title: Text
  note: string | null
  heads: readonly (readonly [text: Text, kind?: 'number'])[]
  rows: readonly Markup[]
}

/** Without rows, only its note, if there is one. */
function table(kind: string, { title, note, heads, rows }: TableParts, formats: Formats): Markup | null {
  const words = note === null ? null : html` <span class="note">${note}</span>`
  if (rows.length === 0)
    return (
      words &&
      html`<h3>${formats.say(title)}</h3>
<p>${words}</p>`
    )
  const cells = heads.map(
    ([text, kind]) => html`<th scope="col"${kind ? html` class="number"` : null}>${formats.say(text)}</th>`,
  )
  return html`<table class="${kind}">
<caption>${formats.say(title)}${words}</caption>
<colgroup>${heads.map(() => html`<col>`)}</colgroup>
<thead><tr>${cells}</tr></thead>
<tbody>
${rows}</tbody>
</table>`
}
