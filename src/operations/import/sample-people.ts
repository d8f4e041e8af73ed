import type { IncomingEvent, IncomingIdentifiers, IncomingRow } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { dice } from './dice.ts'

const names = [
  ...['ada', 'bela', 'carlos', 'dora', 'emil', 'fatima', 'goran', 'hanna', 'ines', 'jonas'],
  ...['karim', 'lena', 'marie', 'nuno', 'olga', 'paul', 'rosa', 'sven', 'tara', 'yusuf'],
]
const day = 86_400_000
const articles = ['/oak', '/light', '/how-we-work', '/care', '/travel']

/** What a visitor of the shop is known by: a few have signed in, each on two devices. */
export function knownBy(number: number): IncomingIdentifiers | null {
  const name = names[Math.floor(number / 50)]
  const isSignedIn = number % 50 === 11 || number % 50 === 12
  return isSignedIn && name
    ? { email: `${name}@example.com`, userId: String(1_000 + names.indexOf(name)) }
    : null
}

/** Readers of a blog of the last three weeks: the same people, who have left their addresses for its letters. */
export function* sampleReaders(trackerId: string, now: Instant): Generator<IncomingRow> {
  const roll = dice(20_261_117)
  for (const [number, name] of names.entries()) {
    const owner = {
      ...{ trackerId, subjectId: `reader-${(4_096 + Math.floor(roll() * 61_440)).toString(16)}` },
      sessionId: `s-${number + 1}`,
    }
    const startedAt = now - Math.floor((1 + roll() * 20) * day)
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
