import { EventLines } from './event-lines.ts'
import { identifiersOf, objectField, presentFields, requiredText, textOf } from './fields.ts'
import type { Conversion, ImportLine, JsonFormat, JsonObject } from './format.ts'
import { readTime } from './times.ts'

/** Properties that are not kept: addresses of visitors, and the key of the project. */
const droppedProperties = ['$ip', 'token']

/** Events as the API lists them, and as batch exports write them. */
export const posthog: JsonFormat = {
  name: 'posthog',
  summary: 'PostHog: events of a batch export (JSON lines) or of the events API',
  input: 'json',
  list: 'results',
  start: () => new PosthogConversion(),
}

class PosthogConversion implements Conversion<JsonObject> {
  readonly #lines = new EventLines()

  convert(record: JsonObject): readonly ImportLine[] {
    const properties = objectField(record.properties, 'properties')
    const subjectId = requiredText(record.distinct_id, 'distinct_id')
    const name = requiredText(record.event, 'event')
    const isIdentify = name === '$identify'
    return this.#lines.linesOf({
      subjectId,
      sessionId: textOf(properties.$session_id),
      eventId: textOf(record.uuid) ?? textOf(record.id),
      name,
      occurredAt: readTime(record.timestamp ?? record.created_at, 'timestamp'),
      properties: keptProperties(properties, record.elements_chain),
      identifiers: identifiersOf(isIdentify ? subjectId : properties.$user_id, emailOf(record, properties), {
        personId: record.person_id,
      }),
      attributes: {
        country: properties.$geoip_country_code,
        region: properties.$geoip_subdivision_1_name,
        city: properties.$geoip_city_name,
        browser: properties.$browser,
        os: properties.$os,
        device: properties.$device_type,
        language: properties.$browser_language,
        source: properties.utm_source,
        medium: properties.utm_medium,
        campaign: properties.utm_campaign,
      },
      // The visitor's ID before the sign-in.
      formerId: isIdentify ? textOf(properties.$anon_distinct_id) : undefined,
    })
  }
}

function keptProperties(properties: JsonObject, elementsChain: unknown): JsonObject {
  const kept = Object.entries(properties).filter(([name]) => !droppedProperties.includes(name))
  return { ...Object.fromEntries(kept), ...presentFields({ $elements_chain: elementsChain }) }
}

/** The address that the event sets, or that the person had when the event was stored or listed. */
function emailOf(record: JsonObject, properties: JsonObject): unknown {
  const set = objectField(properties.$set, '$set')
  const setOnce = objectField(properties.$set_once, '$set_once')
  const person = objectField(record.person, 'person')
  const stored = objectField(record.person_properties, 'person_properties')
  const listed = objectField(person.properties, 'person.properties')
  return set.email ?? setOnce.email ?? stored.email ?? listed.email
}
