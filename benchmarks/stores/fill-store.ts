import { readConfig } from '../../src/config.ts'
import type { IncomingEvent, IncomingRow } from '../../src/domain/ingest.ts'
import type { Services } from '../../src/domain/services.ts'
import { subjectKey } from '../../src/domain/subject.ts'
import { openServices } from '../../src/start.ts'
import { subjectsPath } from './empty-store.ts'
import { tracker } from './visits.ts'

const batchSize = 20_000
/** How many days back the events of `fillStore` go. */
export const daysBack = 170
const eventsPerSession = 4
const dayMs = 86_400_000

/** The identifiers of a subject, unique to it. */
export function identifiersOf(subject: number): Record<string, string> {
  return { email: `visitor-${subject}@shop.example`, userId: `${subject}` }
}

/** Fills a store with subjects of `eventsEach` events, optionally with identifiers. */
export async function fillStore(
  env: Record<string, string>,
  subjects: number,
  eventsEach: number,
  identifiers?: typeof identifiersOf,
): Promise<void> {
  const services = await openServices(readConfig(env))
  for await (const _ of addSubjects(services, inOrderOfKeys(subjects), { eventsEach, identifiers }));
  await services.close()
}

interface SubjectShape {
  eventsEach: number
  identifiers?: typeof identifiersOf | undefined
  /** How many days back the events go. */
  days?: number
}

/** Adds the subjects with these numbers; yields the number of events that were added with each batch. */
export async function* addSubjects(
  { ingest, keyring }: Services,
  subjects: Iterable<number>,
  { eventsEach, identifiers, days = daysBack }: SubjectShape,
): AsyncGenerator<number> {
  let batch: IncomingRow[] = []
  // The store ingests one batch while the next is generated.
  let storing: { rows: number; done: Promise<unknown> } = { rows: 0, done: Promise.resolve() }
  for (const subject of subjects) {
    const brought = identifiers && { identifiers: identifiers(subject) }
    for (let event = 0; event < eventsEach; event++)
      batch.push({ ...eventOf(subject, event, days), ...brought })
    if (batch.length < batchSize) continue
    await storing.done
    yield storing.rows
    storing = { rows: batch.length, done: ingest.ingest(batch, keyring.tombstoneKeys) }
    batch = []
  }
  await storing.done
  yield storing.rows
  await ingest.ingest(batch, keyring.tombstoneKeys)
  yield batch.length
}

/** The subjects' numbers in storage order, so that millions of events are appended at the end of the file. */
function inOrderOfKeys(subjects: number): number[] {
  return Array.from({ length: subjects }, (_, number) => ({
    number,
    key: Buffer.from(subjectKey(tracker, subjectId(number))).toString('latin1'),
  }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ number }) => number)
}

/** Adds one subject with many events, a hundred per session. */
export async function addSubject(services: Services, subjectId: string, events: number): Promise<void> {
  const firstAt = Date.now() - 100 * dayMs
  for (let next = 0; next < events; next += batchSize) {
    const batch: IncomingRow[] = []
    for (let event = next; event < Math.min(next + batchSize, events); event++) {
      const visit = Math.floor(event / 100)
      const occurredAt = firstAt + event * 5_000
      batch.push({ ...eventOf(0, event, daysBack), subjectId, sessionId: `session-${visit}`, occurredAt })
    }
    await services.ingest.ingest(batch, services.keyring.tombstoneKeys)
  }
}

/** Adds one subject whose sessions of ten events overlap their neighbours, spread over a hundred days. */
export async function addOverlapping(services: Services, subjectId: string, sessions: number): Promise<void> {
  const eventsEach = 10
  const stepMs = (100 * dayMs) / sessions
  const firstAt = Date.now() - 100 * dayMs
  for (let next = 0; next < sessions; next += batchSize / eventsEach) {
    const batch: IncomingRow[] = []
    for (let session = next; session < Math.min(next + batchSize / eventsEach, sessions); session++) {
      for (let event = 0; event < eventsEach; event++) {
        // Lasts almost twice the time until the next one.
        const occurredAt = Math.floor(firstAt + session * stepMs + (event * 2 * stepMs) / eventsEach)
        const row = eventOf(0, session * eventsEach + event, daysBack)
        batch.push({ ...row, subjectId, sessionId: `session-${session}`, occurredAt })
      }
    }
    await services.ingest.ingest(batch, services.keyring.tombstoneKeys)
  }
}

export function subjectId(number: number): string {
  return `visitor-${number.toString().padStart(8, '0')}`
}

/** The path of the subject with that number. */
export function subjectPath(number: number): string {
  return `${subjectsPath}/${subjectId(number)}`
}

/** The paths of this many random subjects among the first `subjects`. */
export function somePaths(count: number, subjects: number): string[] {
  return Array.from({ length: count }, () => subjectPath(Math.floor(Math.random() * subjects)))
}

/** Visits spread evenly over these days, so that the insertion order is not the order of time. */
function eventOf(subject: number, event: number, days: number): IncomingEvent {
  const visit = Math.floor(event / eventsPerSession)
  const startedAt = Date.now() - ((subject * 1_618_033 + visit * 1_047_290) % (days * 86_400)) * 1_000
  return {
    type: 'event',
    trackerId: tracker,
    subjectId: subjectId(subject),
    sessionId: `session-${visit}`,
    eventId: `event-${event}`,
    name: 'pageview',
    occurredAt: startedAt + (event % eventsPerSession) * 30_000,
    properties: { url: `https://shop.example/products/${event}`, title: 'A page of the shop' },
  }
}
