import { requireColumns } from './csv-records.ts'
import { EventLines } from './event-lines.ts'
import { identifiersOf, pickFields, presentFields, requiredText, textOf } from './fields.ts'
import {
  type Conversion,
  type CsvFormat,
  type CsvRow,
  type ImportLine,
  type JsonObject,
  UnusableFile,
} from './format.ts'
import { readTime } from './times.ts'

/** The tables `website_event` and `session` of Umami, of which an export of Umami Cloud has the first. */
export const umami: CsvFormat = {
  name: 'umami',
  summary: 'Umami: events (website_event) and sessions (session), as CSV',
  input: 'csv',
  start: () => new UmamiConversion(),
}

const attributeNames = {
  ...{ country: 'country', region: 'region', city: 'city', language: 'language' },
  ...{ browser: 'browser', os: 'os', device: 'device', screen: 'screen' },
}

const propertyNames = {
  ...{ page_title: 'title', hostname: 'hostname', tag: 'tag' },
  ...{ utm_source: 'utmSource', utm_medium: 'utmMedium', utm_campaign: 'utmCampaign' },
  ...{ utm_content: 'utmContent', utm_term: 'utmTerm' },
  ...{ gclid: 'gclid', fbclid: 'fbclid', msclkid: 'msclkid', ttclid: 'ttclid' },
  ...{ li_fat_id: 'liFatId', twclid: 'twclid' },
}

class UmamiConversion implements Conversion<CsvRow> {
  readonly #lines = new EventLines()
  #hasEvents = true

  begin(columns: readonly string[]): void {
    if (columns.includes('data_key') || columns.includes('event_key')) {
      throw new UnusableFile(
        'it contains event_data or session_data; only website_event and session can be converted',
      )
    }
    this.#hasEvents = columns.includes('event_id')
    const what = this.#hasEvents ? ['url_path'] : ['browser']
    requireColumns(columns, ['session_id', 'created_at', ...what])
  }

  convert(row: CsvRow): readonly ImportLine[] {
    const fields: JsonObject = Object.fromEntries([...row].filter(([, value]) => value !== nullText))
    const subjectId = requiredText(fields.session_id, 'session_id')
    const at = readTime(fields.created_at, 'created_at')
    const identifiers = identifiersOf(fields.distinct_id)
    const attributes = attributesOf(fields)
    if (!this.#hasEvents) {
      // Umami calls a visitor a session.
      const session = { sessionId: subjectId, startedAt: at, attributes, identifiers }
      return [{ type: 'session', subjectId, ...session }]
    }
    return this.#lines.linesOf({
      subjectId,
      // Older versions have no visits.
      sessionId: textOf(fields.visit_id) ?? subjectId,
      eventId: requiredText(fields.event_id, 'event_id'),
      name: nameOf(fields),
      occurredAt: at,
      properties: propertiesOf(fields),
      identifiers,
      ...(attributes && { attributes }),
    })
  }
}

/** How ClickHouse and PostgreSQL write NULL. */
const nullText = '\\N'

/** Of `region` and `subdivision1`, which replaced each other, only one is there. */
function attributesOf(fields: JsonObject): JsonObject | undefined {
  const region = textOf(fields.region) ?? fields.subdivision1
  return pickFields({ ...fields, region }, attributeNames)
}

/** Events of the site have a name. Of the others, page views are of type 1. */
function nameOf(fields: JsonObject): string {
  const type = textOf(fields.event_type) ?? '1'
  return textOf(fields.event_name) ?? (type === '1' ? 'pageview' : 'event')
}

function propertiesOf(fields: JsonObject): JsonObject | undefined {
  const { url_path, url_query, referrer_domain, referrer_path, referrer_query } = fields
  return presentFields({
    url: joined(url_path, url_query),
    referrer: `${textOf(referrer_domain) ?? ''}${joined(referrer_path, referrer_query)}`,
    ...pickFields(fields, propertyNames),
  })
}

function joined(path: unknown, query: unknown): string {
  const search = textOf(query)
  return `${textOf(path) ?? ''}${search === undefined ? '' : `?${search.replace(/^\?/, '')}`}`
}
