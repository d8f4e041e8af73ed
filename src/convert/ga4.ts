import { isObject } from '../domain/json.ts'
import { EventLines } from './event-lines.ts'
import { deriveId, identifiersOf, objectField, presentFields, requiredText, textOf } from './fields.ts'
import {
  type Conversion,
  type ImportLine,
  type JsonFormat,
  type JsonObject,
  UnusableRecord,
} from './format.ts'
import { readUnixTime } from './times.ts'

/** The fields that together tell the events of a batch apart. */
const batchFields = [
  'event_bundle_sequence_id',
  'batch_page_id',
  'batch_ordering_id',
  'batch_event_index',
] as const

/** Rows of the tables `events_…` that Google Analytics 4 exports to BigQuery. */
export const ga4: JsonFormat = {
  name: 'ga4',
  summary: 'Google Analytics 4: events exported to BigQuery, as JSON lines',
  input: 'json',
  start: () => new Ga4Conversion(),
}

class Ga4Conversion implements Conversion<JsonObject> {
  readonly #lines = new EventLines()

  convert(record: JsonObject): readonly ImportLine[] {
    const { ga_session_id: sessionId, ...parameters } = valuesOf(record.event_params, 'event_params')
    const name = requiredText(record.event_name, 'event_name')
    return this.#lines.linesOf({
      subjectId: requiredText(textOf(record.user_pseudo_id) ?? record.user_id, 'user_pseudo_id'),
      sessionId: textOf(sessionId),
      eventId: eventIdOf(record, name),
      name,
      occurredAt: readUnixTime(record.event_timestamp, 'event_timestamp', 0.001),
      properties: { ...parameters, ...otherProperties(record) },
      identifiers: identifiersOf(record.user_id),
      attributes: attributesOf(record),
    })
  }
}

/** Absent if the row lacks the position in its batch; then the content identifies the event. */
function eventIdOf(record: JsonObject, name: string): string | undefined {
  if (textOf(record.batch_event_index) === undefined) return undefined
  const position = batchFields.map((field) => textOf(record[field]) ?? '')
  return deriveId(textOf(record.event_timestamp) ?? '', name, ...position)
}

function otherProperties(record: JsonObject): JsonObject | undefined {
  const { items } = record
  return presentFields({
    items: Array.isArray(items) && items.length > 0 ? items : undefined,
    ecommerce: presentFields(objectField(record.ecommerce, 'ecommerce')),
    user_properties: presentFields(valuesOf(record.user_properties, 'user_properties')),
    event_value_in_usd: record.event_value_in_usd,
    platform: record.platform,
  })
}

function attributesOf(record: JsonObject): JsonObject {
  const device = objectField(record.device, 'device')
  const browser = objectField(device.web_info, 'device.web_info')
  const geo = objectField(record.geo, 'geo')
  const first = objectField(record.traffic_source, 'traffic_source')
  const collected = objectField(record.collected_traffic_source, 'collected_traffic_source')
  return {
    country: geo.country,
    region: geo.region,
    city: geo.city,
    browser: browser.browser ?? device.browser,
    os: device.operating_system,
    device: device.category,
    language: device.language,
    source: collected.manual_source,
    medium: collected.manual_medium,
    campaign: collected.manual_campaign_name,
    firstSource: first.source,
    firstMedium: first.medium,
    firstCampaign: first.name,
  }
}

/** A list of keys with values of one type each. Of a repeated key, the last value counts. */
function valuesOf(list: unknown, field: string): JsonObject {
  if (list === undefined || list === null) return {}
  if (!Array.isArray(list)) throw new UnusableRecord(`${field} is not a list`)
  const entries = list.map((item): [string, unknown] => {
    if (!isObject(item)) throw new UnusableRecord(`${field} has an entry that is not an object`)
    return [
      requiredText(item.key, `a key in ${field}`),
      parameterValue(objectField(item.value, `a value in ${field}`)),
    ]
  })
  return Object.fromEntries(entries)
}

/** BigQuery writes integers as texts. Those that JavaScript cannot represent stay texts. */
function parameterValue(value: JsonObject): unknown {
  const integer = value.int_value ?? undefined
  if (typeof integer === 'string' && /^-?\d{1,16}$/.test(integer) && Number.isSafeInteger(Number(integer)))
    return Number(integer)
  return value.string_value ?? integer ?? value.float_value ?? value.double_value ?? null
}
