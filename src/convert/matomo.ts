import { isIdentifier } from '../domain/identifier.ts'
import type { Instant } from '../domain/instant.ts'
import { isObject } from '../domain/json.ts'
import { identifiersOf, pickFields, presentFields, requiredText, textOf } from './fields.ts'
import {
  type Conversion,
  type EventLine,
  type ImportLine,
  type JsonFormat,
  type JsonObject,
  UnusableRecord,
} from './format.ts'
import { readUnixTime } from './times.ts'

/** Visits as Matomo's API method `Live.getLastVisitsDetails` returns them. */
export const matomo: JsonFormat = {
  name: 'matomo',
  summary: 'Matomo: visits from the API method Live.getLastVisitsDetails, as JSON',
  input: 'json',
  start: () => matomoConversion,
}

const attributeNames = {
  ...{ countryCode: 'country', region: 'region', city: 'city', languageCode: 'language' },
  ...{ deviceType: 'device', deviceBrand: 'deviceBrand', deviceModel: 'deviceModel' },
  ...{ operatingSystemName: 'os', operatingSystemVersion: 'osVersion' },
  ...{ browserName: 'browser', browserVersion: 'browserVersion', resolution: 'screen' },
  ...{ referrerType: 'referrerType', referrerName: 'referrerName', referrerUrl: 'referrer' },
  ...{ referrerKeyword: 'referrerKeyword', visitorType: 'visitorType', visitCount: 'visitCount' },
  ...{ idSite: 'siteId' },
}

const propertyNames = {
  ...{ url: 'url', pageTitle: 'title', idpageview: 'pageviewId' },
  ...{ eventCategory: 'category', eventAction: 'action', eventName: 'name', eventValue: 'value' },
  ...{ siteSearchKeyword: 'keyword', siteSearchCategory: 'searchCategory', siteSearchCount: 'results' },
  ...{ goalId: 'goalId', goalName: 'goalName', orderId: 'orderId', revenue: 'revenue' },
  ...{ revenueSubTotal: 'subtotal', revenueTax: 'tax', revenueShipping: 'shipping' },
  ...{ revenueDiscount: 'discount', items: 'itemCount', itemDetails: 'items' },
  ...{ contentName: 'contentName', contentPiece: 'contentPiece', contentTarget: 'contentTarget' },
}

const matomoConversion: Conversion<JsonObject> = {
  convert(visit) {
    if (visit.result === 'error') throw new UnusableRecord('it is an error of the Matomo API, not a visit')
    const subjectId = requiredText(visit.visitorId, 'visitorId')
    const sessionId = requiredText(visit.idVisit, 'idVisit')
    const actions = visit.actionDetails ?? []
    if (!Array.isArray(actions)) throw new UnusableRecord('actionDetails is not a list')
    const events = actions.map((action: unknown) => eventOf(action, subjectId, sessionId))
    const span = spanOf(visit, events)
    const attributes = presentFields({ ...pickFields(visit, attributeNames), ...customFields(visit) })
    const session: ImportLine = {
      ...{ type: 'session', subjectId, sessionId, ...span },
      ...{ attributes, identifiers: identifiersOf(visit.userId) },
    }
    return [session, ...events]
  },
}

/** Includes the actions, because a goal can be reached after the last page. */
function spanOf(visit: JsonObject, events: readonly EventLine[]): { startedAt: Instant; endedAt: Instant } {
  const times = events.map(({ occurredAt }) => occurredAt)
  for (const field of ['firstActionTimestamp', 'lastActionTimestamp']) {
    if (textOf(visit[field]) !== undefined) times.push(readUnixTime(visit[field], field, 1_000))
  }
  if (times.length === 0) times.push(readUnixTime(visit.serverTimestamp, 'serverTimestamp', 1_000))
  return {
    startedAt: times.reduce((a, b) => Math.min(a, b)),
    endedAt: times.reduce((a, b) => Math.max(a, b)),
  }
}

function eventOf(action: unknown, subjectId: string, sessionId: string): EventLine {
  if (!isObject(action)) throw new UnusableRecord('actionDetails contains something other than objects')
  const type = requiredText(action.type, 'type of an action')
  return {
    ...{ type: 'event', subjectId, sessionId },
    // Goals and orders have none.
    eventId: textOf(action.pageId),
    name: nameOf(type, action.eventAction),
    occurredAt: readUnixTime(action.timestamp, 'timestamp of an action', 1_000),
    properties: presentFields({ ...pickFields(action, propertyNames), ...customFields(action) }),
  }
}

/** A page view has the type `action`, an event of the site `event`. Others keep the name of their type. */
function nameOf(type: string, eventAction: unknown): string {
  if (type === 'action') return 'pageview'
  return type === 'event' && isIdentifier(eventAction) ? eventAction : type
}

/** Custom dimensions: `dimension1`, `dimension2`. */
function customFields(source: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(source).filter(([field]) => /^dimension\d{1,4}$/.test(field)))
}
