import { commandLine } from '../domain/activity.ts'
import { allScopes } from '../domain/api-key.ts'
import type { IncomingEvent, IncomingIdentifiers, IncomingRow, IncomingSession } from '../domain/ingest.ts'
import { dayMs, type Instant } from '../domain/instant.ts'
import type { Services } from '../domain/services.ts'
import { createKey, type IssuedKey } from './api-key.ts'
import { type Invited, inviteMember } from './member.ts'
import { createOrganisation } from './organisation.ts'
import { createSampleRequests } from './sample-requests.ts'
import { createTracker } from './tracker.ts'
import { editVariables } from './variable.ts'
import { createVariableToken, type IssuedToken } from './variable-token.ts'

interface Sample {
  organisationId: string
  trackerId: string
  /** A subject with interesting data. */
  subjectId: string
  issued: IssuedKey
  /** Reads the variables of the tracker. */
  variableToken: IssuedToken
  /** A member who can sign in to the console. */
  invited: Invited
}

const batchSize = 2_000

/** Sample data: a shop with about 1,000 visitors, a blog that some read, variables, keys and a member. */
export async function createSample(deps: Services): Promise<Sample> {
  const { id: organisationId } = await createOrganisation(deps, {
    name: 'Sample',
    plan: 'starter',
    id: 'sample',
  })
  const { id: trackerId } = await createTracker(deps, {
    organisationId,
    name: 'Sample shop',
    id: 'sample-shop',
  })
  const blog = await createTracker(deps, { organisationId, name: 'Sample blog', id: 'sample-blog' })
  const visits = [...sampleVisits(trackerId, deps.clock())]
  const rows = [...visits, ...sampleReaders(blog.id, deps.clock())]
  for (let start = 0; start < rows.length; start += batchSize) {
    await deps.ingest.ingest(rows.slice(start, start + batchSize), deps.keyring.tombstoneKeys)
  }
  const issued = await createKey(deps, {
    organisationId,
    name: 'sample',
    scopes: allScopes(),
    expiresAt: null,
  })
  await editVariables(deps, trackerId, { apply: () => new Map(Object.entries(sampleVariables)) })
  const variableToken = await createVariableToken(deps, { trackerId, name: 'sample' })
  const invited = await inviteMember(
    deps,
    { organisationId, email: 'you@sample.example', role: 'admin' },
    commandLine,
  )
  // Earlier than the other key, so that both are always listed in the same order.
  const yesterday = { ...deps, clock: () => deps.clock() - dayMs }
  const { key } = await createKey(yesterday, {
    organisationId,
    name: 'account page',
    scopes: ['analytics:manage-requests', 'analytics:delete-data'],
    expiresAt: null,
  })
  await createSampleRequests(deps, organisationId, invited.member.id, key)
  const subjectId = busiestRecent(visits, deps.clock())
  return { organisationId, trackerId, subjectId, issued, variableToken, invited }
}

export const sampleVariables = {
  'banner.text': 'Free shipping this week',
  'checkout.steps': 3,
  'search.suggestions': { enabled: true, share: 0.5 },
}

/** The subject with the most events in the last week. */
function busiestRecent(rows: readonly IncomingRow[], now: Instant): string {
  const events = new Map<string, number>()
  for (const row of rows) {
    if (row.type === 'event' && row.occurredAt > now - 7 * dayMs) {
      events.set(row.subjectId, (events.get(row.subjectId) ?? 0) + 1)
    }
  }
  const [busiest] = [...events].sort((a, b) => b[1] - a[1])
  return busiest?.[0] ?? ''
}

const names = [
  ...['ada', 'bela', 'carlos', 'dora', 'emil', 'fatima', 'goran', 'hanna', 'ines', 'jonas'],
  ...['karim', 'lena', 'marie', 'nuno', 'olga', 'paul', 'rosa', 'sven', 'tara', 'yusuf'],
]
const articles = ['/oak', '/light', '/how-we-work', '/care', '/travel']

/** A few visitors have signed in, each on two devices. */
function knownBy(number: number): IncomingIdentifiers | null {
  const name = names[Math.floor(number / 50)]
  const isSignedIn = number % 50 === 11 || number % 50 === 12
  return isSignedIn && name
    ? { email: `${name}@example.com`, userId: String(1_000 + names.indexOf(name)) }
    : null
}

/** Readers of a blog over the last three weeks: the same people, subscribed with their addresses. */
function* sampleReaders(trackerId: string, now: Instant): Generator<IncomingRow> {
  const roll = dice(20_261_117)
  for (const [number, name] of names.entries()) {
    const owner = {
      ...{ trackerId, subjectId: `reader-${(4_096 + Math.floor(roll() * 61_440)).toString(16)}` },
      sessionId: `s-${number + 1}`,
    }
    const startedAt = now - Math.floor((1 + roll() * 20) * dayMs)
    const events = Array.from({ length: 1 + Math.floor(roll() * 4) }, (_, i): IncomingEvent => {
      const url = `https://blog.example${articles[Math.floor(roll() * articles.length)]}`
      const occurredAt = startedAt + i * 60_000
      const what = { eventId: `${owner.sessionId}-${i + 1}`, name: 'pageview', properties: { url } }
      return { type: 'event', ...owner, ...what, occurredAt }
    })
    const endedAt = events.at(-1)?.occurredAt ?? startedAt
    const identifiers = { email: `${name}@example.com` }
    yield { type: 'session', ...owner, startedAt, endedAt, attributes: {}, identifiers }
    yield* events
  }
}

const subjectCount = 1_000
const daysBack = 150

const countries = ['DE', 'DE', 'DE', 'FR', 'FR', 'GB', 'GB', 'US', 'NL', 'ES', 'IT', 'PL', 'SE', 'AT', 'CH']
const languages: Record<string, string> = {
  DE: 'de',
  AT: 'de',
  CH: 'de',
  FR: 'fr',
  NL: 'nl',
  ES: 'es',
  IT: 'it',
  PL: 'pl',
  SE: 'sv',
}
const devices = [
  { device: 'desktop', os: 'Windows', browser: 'Chrome' },
  { device: 'desktop', os: 'Windows', browser: 'Edge' },
  { device: 'desktop', os: 'macOS', browser: 'Safari' },
  { device: 'desktop', os: 'Linux', browser: 'Firefox' },
  { device: 'phone', os: 'Android', browser: 'Chrome' },
  { device: 'phone', os: 'Android', browser: 'Firefox' },
  { device: 'phone', os: 'iOS', browser: 'Safari' },
  { device: 'phone', os: 'iOS', browser: 'Safari' },
]
const referrers = ['', '', '', 'https://www.google.com/', 'https://duckduckgo.com/', 'https://news.example/']
const pages = [
  '/',
  '/',
  '/products',
  '/products/lamp',
  '/products/chair',
  '/products/desk',
  '/about',
  '/blog/oak',
  '/help',
]

/** Visits of a shop over the last five months: most people come once or twice, a few often, and some buy. */
export function* sampleVisits(trackerId: string, now: Instant): Generator<IncomingRow> {
  const roll = dice(20_261_115)
  const pick = <Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item => {
    const item = items[Math.floor(roll() * items.length)]
    if (item === undefined) throw new Error('Nothing to pick from.')
    return item
  }
  for (let number = 0; number < subjectCount; number++) {
    const subjectId = `visitor-${(1_000 + Math.floor(roll() * 9_000)).toString()}${number.toString().padStart(4, '0')}`
    const country = pick(countries)
    const attributes = { country, language: languages[country] ?? 'en', ...pick(devices) }
    const visits = 1 + Math.floor(-Math.log(1 - roll()) * 1.7)
    let startedAt = now - Math.floor((0.02 + roll() * 0.98) * daysBack * dayMs)
    for (let visit = 0; visit < visits && startedAt < now - 3_600_000; visit++) {
      yield* sampleVisit(
        { trackerId, subjectId, sessionId: `${subjectId}-${visit + 1}` },
        startedAt,
        attributes,
        knownBy(number),
      )
      startedAt += Math.floor((0.5 + roll() * 20) * dayMs)
    }
  }

  function* sampleVisit(
    owner: Pick<IncomingSession, 'trackerId' | 'subjectId' | 'sessionId'>,
    startedAt: Instant,
    attributes: Record<string, string>,
    identifiers: IncomingIdentifiers | null,
  ): Generator<IncomingRow> {
    const events: IncomingEvent[] = []
    let occurredAt = startedAt
    const say = (name: string, properties: Record<string, unknown>) => {
      events.push({
        type: 'event',
        ...owner,
        eventId: `${owner.sessionId}-${events.length + 1}`,
        name,
        occurredAt,
        properties,
      })
      occurredAt += 3_000 + Math.floor(roll() * 90_000)
    }
    for (let view = 0; view < 1 + Math.floor(roll() * 6); view++)
      say('pageview', { url: `https://shop.example${pick(pages)}` })
    if (roll() < 0.12) say('search', { query: pick(['lamp', 'oak desk', 'chair', 'gift']) })
    if (roll() < 0.15)
      say('add_to_cart', { product: pick(['lamp', 'chair', 'desk']), quantity: 1 + Math.floor(roll() * 2) })
    if (roll() < 0.06) say('purchase', { total: Math.floor(roll() * 40_000) / 100, currency: 'EUR' })
    const endedAt = events.at(-1)?.occurredAt ?? startedAt
    const referrer = pick(referrers)
    yield {
      type: 'session',
      ...owner,
      startedAt,
      endedAt,
      attributes: referrer === '' ? attributes : { ...attributes, referrer },
      ...(identifiers && { identifiers }),
    }
    yield* events
  }
}

/** Uniform numbers from 0 to 1 (mulberry32), so that the sample is always the same except for its dates. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
