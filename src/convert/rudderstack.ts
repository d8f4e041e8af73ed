import { objectField, presentFields, textOf } from './fields.ts'
import type { Conversion, ImportLine, JsonFormat, JsonObject } from './format.ts'
import { TrackingCallConversion } from './tracking-call.ts'

/** Calls as RudderStack archives them in object storage, and rows of its warehouse tables. */
export const rudderstack: JsonFormat = {
  name: 'rudderstack',
  summary: 'RudderStack: calls archived in object storage, or rows of warehouse tables, as JSON lines',
  input: 'json',
  start: () => new RudderstackConversion(),
}

class RudderstackConversion implements Conversion<JsonObject> {
  readonly #calls = new TrackingCallConversion(
    ({ context }: JsonObject) => objectField(context, 'context').sessionId,
  )

  convert(record: JsonObject): readonly ImportLine[] {
    return this.#calls.convert(isRow(record) ? callOf(record) : record)
  }
}

const rowColumns = ['anonymous_id', 'user_id', 'original_timestamp', 'received_at']

function isRow(record: JsonObject): boolean {
  return rowColumns.some((column) => record[column] !== undefined)
}

/** Columns that every table has, or that describe the transport. All others are properties or traits. */
const commonColumns = new Set([
  ...['id', 'type', 'anonymous_id', 'user_id', 'event', 'event_text', 'group_id', 'previous_id', 'channel'],
  ...['timestamp', 'original_timestamp', 'sent_at', 'received_at', 'uuid_ts', 'loaded_at', 'rudder_id'],
])

/** The columns of an object such as `context`, whose names begin with its name. */
const contextPrefix = 'context_'

function callOf(row: JsonObject): JsonObject {
  const type = textOf(row.type) ?? tableTypeOf(row)
  const own = Object.entries(row).filter(
    ([column]) => !commonColumns.has(column) && !column.startsWith(contextPrefix),
  )
  const facts = presentFields(Object.fromEntries(own))
  return {
    type,
    messageId: row.id,
    anonymousId: row.anonymous_id,
    userId: row.user_id,
    event: textOf(row.event_text) ?? row.event,
    groupId: row.group_id,
    previousId: row.previous_id,
    timestamp: row.timestamp,
    originalTimestamp: row.original_timestamp,
    sentAt: row.sent_at,
    receivedAt: row.received_at,
    context: contextOf(row),
    ...(type === 'identify' || type === 'group' ? { traits: facts } : { properties: facts }),
  }
}

/** A row does not name its table, but its columns do. */
function tableTypeOf(row: JsonObject): string {
  if (textOf(row.event) !== undefined || textOf(row.event_text) !== undefined) return 'track'
  if (textOf(row.previous_id) !== undefined) return 'alias'
  if (textOf(row.group_id) !== undefined) return 'group'
  return textOf(row.url) !== undefined || textOf(row.path) !== undefined ? 'page' : 'identify'
}

function contextOf(row: JsonObject): JsonObject {
  return {
    sessionId: row.context_session_id,
    locale: row.context_locale,
    timezone: row.context_timezone,
    userAgent: row.context_user_agent,
    traits: { email: row.context_traits_email },
    page: { url: row.context_page_url, title: row.context_page_title },
    os: { name: row.context_os_name },
    device: { model: row.context_device_model, type: row.context_device_type },
    app: { name: row.context_app_name },
    campaign: {
      source: row.context_campaign_source,
      medium: row.context_campaign_medium,
      name: row.context_campaign_name,
    },
  }
}
