import type { IncomingEvent, IncomingIdentifiers, IncomingRow, IncomingSession } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { dice } from './dice.ts'
import { knownBy } from './sample-people.ts'

const subjectCount = 1_000
const day = 86_400_000
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

/** Visits of a shop over the last five months: most people come once or twice, a few come often, some buy. */
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
    let startedAt = now - Math.floor((0.02 + roll() * 0.98) * daysBack * day)
    for (let visit = 0; visit < visits && startedAt < now - 3_600_000; visit++) {
      yield* sampleVisit(
        { trackerId, subjectId, sessionId: `${subjectId}-${visit + 1}` },
        startedAt,
        attributes,
        knownBy(number),
      )
      startedAt += Math.floor((0.5 + roll() * 20) * day)
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
