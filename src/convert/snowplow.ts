import { EventLines } from './event-lines.ts'
import { identifiersOf, parseExact, presentFields, requiredText } from './fields.ts'
import {
  type Conversion,
  type ImportLine,
  type JsonObject,
  type LineFormat,
  UnusableRecord,
} from './format.ts'
import { snowplowColumns } from './snowplow-columns.ts'
import { readTime } from './times.ts'

/** Columns that become properties under their names. */
const textColumns = [
  ...['app_id', 'platform', 'page_url', 'page_title', 'page_referrer'],
  ...['refr_medium', 'refr_source', 'refr_term', 'mkt_term', 'mkt_content', 'mkt_clickid', 'mkt_network'],
  ...['se_category', 'se_action', 'se_label', 'se_property'],
  ...['tr_orderid', 'tr_affiliation', 'tr_city', 'tr_state', 'tr_country', 'tr_currency'],
  ...['ti_orderid', 'ti_sku', 'ti_name', 'ti_category', 'ti_currency'],
]
const numberColumns = [
  ...['se_value', 'tr_total', 'tr_tax', 'tr_shipping', 'ti_price', 'ti_quantity'],
  ...['pp_xoffset_min', 'pp_xoffset_max', 'pp_yoffset_min', 'pp_yoffset_max'],
]
const jsonColumns = ['unstruct_event', 'contexts', 'derived_contexts']

/** The output of Snowplow's enrichment, before a loader writes it to a warehouse. */
export const snowplow: LineFormat = {
  name: 'snowplow',
  summary: 'Snowplow: enriched events (TSV)',
  input: 'lines',
  start: () => new SnowplowConversion(),
}

type Columns = ReadonlyMap<string, string>

class SnowplowConversion implements Conversion<string> {
  readonly #lines = new EventLines()

  convert(source: string): readonly ImportLine[] {
    const columns = columnsOf(source)
    return this.#lines.linesOf({
      subjectId: requiredText(
        columns.get('domain_userid') ?? columns.get('network_userid') ?? columns.get('user_id'),
        'domain_userid',
      ),
      sessionId: columns.get('domain_sessionid'),
      eventId: columns.get('event_id'),
      name: nameOf(columns),
      occurredAt: readTime(
        columns.get('derived_tstamp') ?? columns.get('collector_tstamp'),
        'derived_tstamp',
      ),
      properties: propertiesOf(columns),
      identifiers: identifiersOf(columns.get('user_id')),
      attributes: {
        country: columns.get('geo_country'),
        region: columns.get('geo_region_name') ?? columns.get('geo_region'),
        city: columns.get('geo_city'),
        browser: columns.get('br_family') ?? columns.get('br_name'),
        os: columns.get('os_family') ?? columns.get('os_name'),
        device: columns.get('dvce_type'),
        language: columns.get('br_lang'),
        source: columns.get('mkt_source'),
        medium: columns.get('mkt_medium'),
        campaign: columns.get('mkt_campaign'),
      },
    })
  }
}

/** The columns that are not empty. */
function columnsOf(source: string): Columns {
  const values = source.split('\t')
  if (values.length !== snowplowColumns.length)
    throw new UnusableRecord(`it does not have ${snowplowColumns.length} columns`)
  const named = snowplowColumns.map((name, index): [string, string] => [name, values[index] ?? ''])
  return new Map(named.filter(([, value]) => value !== ''))
}

/** Structured events all have the same name, but an action. */
function nameOf(columns: Columns): string {
  const action = columns.get('event') === 'struct' ? columns.get('se_action') : undefined
  return requiredText(action ?? columns.get('event_name') ?? columns.get('event'), 'event_name')
}

function propertiesOf(columns: Columns): JsonObject | undefined {
  const texts = textColumns.map((name): [string, unknown] => [name, columns.get(name)])
  const numbers = numberColumns.map((name): [string, unknown] => [name, numberOrText(columns.get(name))])
  const documents = jsonColumns.map((name): [string, unknown] => [
    name,
    documentOrText(name, columns.get(name)),
  ])
  return presentFields(Object.fromEntries([...texts, ...numbers, ...documents]))
}

function numberOrText(text: string | undefined): unknown {
  return text !== undefined && String(Number(text)) === text ? Number(text) : text
}

/** The data of a self-describing document, whose outer schema is always the same. */
function documentOrText(name: string, text: string | undefined): unknown {
  if (text === undefined) return undefined
  const document = parseExact(text, name)
  if (document === undefined) return text
  return typeof document === 'object' && document !== null && 'data' in document ? document.data : document
}
