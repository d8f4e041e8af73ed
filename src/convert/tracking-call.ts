import { EventLines } from './event-lines.ts'
import { identifiersOf, objectField, presentFields, requiredText, textOf } from './fields.ts'
import { type Conversion, type ImportLine, type JsonObject, UnusableRecord } from './format.ts'
import { readTime } from './times.ts'

const callTypes = ['track', 'page', 'screen', 'identify', 'group', 'alias'] as const
type CallType = (typeof callTypes)[number]

/** The calls of Segment's specification, which RudderStack shares. */
export class TrackingCallConversion implements Conversion<JsonObject> {
  readonly #lines = new EventLines()
  readonly #sessionOf: (call: JsonObject) => unknown

  /** `sessionOf` returns the session that a call names, if any. */
  constructor(sessionOf: (call: JsonObject) => unknown) {
    this.#sessionOf = sessionOf
  }

  convert(call: JsonObject): readonly ImportLine[] {
    const type = typeOf(call.type)
    const context = objectField(call.context, 'context')
    return this.#lines.linesOf({
      subjectId: requiredText(textOf(call.anonymousId) ?? call.userId, 'anonymousId'),
      sessionId: textOf(this.#sessionOf(call)),
      eventId: textOf(call.messageId),
      name: type === 'track' ? requiredText(call.event, 'event') : type,
      // The first is corrected by the difference between the clocks of sender and receiver.
      occurredAt: readTime(
        call.timestamp ?? call.originalTimestamp ?? call.sentAt ?? call.receivedAt,
        'timestamp',
      ),
      properties: propertiesOf(type, call, context),
      identifiers: identifiersOf(call.userId, emailOf(type, call, context)),
      attributes: attributesOf(context),
      formerId: type === 'alias' ? textOf(call.previousId) : undefined,
    })
  }
}

function typeOf(value: unknown): CallType {
  const type = callTypes.find((each) => each === value)
  if (type === undefined) throw new UnusableRecord(`type is none of ${callTypes.join(', ')}`)
  return type
}

function propertiesOf(type: CallType, call: JsonObject, context: JsonObject): JsonObject | undefined {
  const { url, title } = objectField(context.page, 'context.page')
  const page = presentFields({ url, title })
  if (type === 'alias') return { ...page, ...presentFields({ previousId: call.previousId }) }
  const traits = presentFields(objectField(call.traits, 'traits'))
  if (type === 'group') return { ...page, ...presentFields({ groupId: call.groupId, traits }) }
  if (type === 'identify') {
    // Mobile applications send them with the context of every call.
    const sent = presentFields(objectField(context.traits, 'context.traits'))
    return { ...page, ...presentFields({ traits: traits ?? sent }) }
  }
  const named = type === 'track' ? undefined : presentFields({ name: call.name, category: call.category })
  return { ...page, ...named, ...objectField(call.properties, 'properties') }
}

/** The traits of a group are not those of the person. */
function emailOf(type: CallType, call: JsonObject, context: JsonObject): unknown {
  const traits = type === 'group' ? {} : objectField(call.traits, 'traits')
  return traits.email ?? objectField(context.traits, 'context.traits').email
}

function attributesOf(context: JsonObject): JsonObject {
  const location = objectField(context.location, 'context.location')
  const device = objectField(context.device, 'context.device')
  const campaign = objectField(context.campaign, 'context.campaign')
  return {
    country: location.country,
    city: location.city,
    os: objectField(context.os, 'context.os').name,
    device: device.model ?? device.type,
    app: objectField(context.app, 'context.app').name,
    language: context.locale,
    timezone: context.timezone,
    userAgent: context.userAgent,
    source: campaign.source,
    medium: campaign.medium,
    campaign: campaign.name,
  }
}
