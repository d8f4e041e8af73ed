import type { Scope } from '../../src/domain/api-key.ts'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { TrackerView } from '../../src/domain/tracker.ts'
import { always } from './rows.ts'
import { type Lifetime, startTestService, type TestService } from './service.ts'

/** A running service with one organisation, its tracker `shop` and one key. */
export interface Shop extends TestService {
  organisationId: string
  /** The tracker `shop`, in a view from which nothing has aged out. */
  view: TrackerView
  /** The string of the key. */
  key: string
  keyId: string
}

export const subjectsPath = '/v1/analytics/trackers/shop/subjects'

/** The path of a subject, percent-encoded. */
export function subjectPath(subjectId: string, trackerId = 'shop'): string {
  return `/v1/analytics/trackers/${encodeURIComponent(trackerId)}/subjects/${encodeURIComponent(subjectId)}`
}

export async function startShop(
  lifetime: Lifetime,
  {
    env,
    scopes,
    writesHere = true,
  }: { env?: Record<string, string>; scopes: readonly Scope[]; writesHere?: boolean },
): Promise<Shop> {
  const service = await startTestService(lifetime, env, { writesHere })
  const organisationId = await service.createOrganisation()
  await service.createTracker(organisationId, 'shop')
  const { key, keyString } = await service.createKey(organisationId, scopes)
  const view = { organisationId, trackerId: 'shop', since: always }
  return { ...service, organisationId, view, key: keyString, keyId: key.id }
}

/** Recent enough for every plan. */
export const anHourAgo: Instant = Date.now() - 3_600_000

interface Visit {
  trackerId?: string
  sessionId?: string
  startedAt?: Instant
  /** The number of events, one per second from the start. */
  events?: number
  attributes?: Record<string, unknown>
  identifiers?: Record<string, string>
}

/** A session of a subject with its events, as rows to ingest. */
export function visit(
  subjectId: string,
  {
    trackerId = 'shop',
    sessionId = 's1',
    startedAt = anHourAgo,
    events = 1,
    attributes = {},
    identifiers,
  }: Visit = {},
): IncomingRow[] {
  const owner = { trackerId, subjectId, sessionId }
  const happened = Array.from({ length: events }, (_, number) => ({
    type: 'event' as const,
    ...owner,
    eventId: `${sessionId}-${number + 1}`,
    name: 'pageview',
    occurredAt: startedAt + number * 1_000,
    properties: { number },
  }))
  const endedAt = happened.at(-1)?.occurredAt ?? startedAt
  const session = { type: 'session' as const, ...owner, startedAt, endedAt, attributes }
  return [{ ...session, ...(identifiers && { identifiers }) }, ...happened]
}
