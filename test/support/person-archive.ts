import type { Attributes } from '../../src/domain/session.ts'
import type { SubjectIdentifier } from '../../src/domain/subject-identifier.ts'
import type { ArchiveContext } from '../../src/http/archive/index-page.ts'
import { PersonArchive } from '../../src/http/archive/person-archive.ts'
import { at } from './rows.ts'

export const madeAt = at('2026-11-18T12:00:00.000Z')
const dayMs = 86_400_000

/** A record in an archive. Its events are an hour apart, ten to a session. */
export interface ArchivedRecord {
  trackerId: string
  subjectId: string
  events: number
  sessions?: number
  name?: (event: number) => string
  properties?: (event: number) => Attributes
  attributes?: Attributes
  identifiers?: SubjectIdentifier[]
}

export const archiveContext: ArchiveContext = {
  language: 'en',
  organisation: { name: 'Acme Furniture', contact: 'Data protection\nprivacy@acme.example' },
  request: {
    reference: 'DSR-17',
    receivedAt: madeAt - 15 * dayMs,
    identifiers: [{ name: 'email', value: 'ada@example.com' }],
  },
  hasHidden: false,
  madeAt,
  keptDays: 425,
  trackers: new Map([
    ['shop', 'Acme shop'],
    ['blog', 'Acme journal'],
  ]),
}

/** An archive of these records, passed on as an export does. */
export async function archiveOf(
  records: readonly ArchivedRecord[],
  context: Partial<ArchiveContext> = {},
): Promise<Buffer> {
  const blocks: Buffer[] = []
  const add = async (block: Buffer) => {
    blocks.push(block)
  }
  const archive = new PersonArchive({ ...archiveContext, ...context }, add, new AbortController().signal)
  for (const record of records) await addRecord(archive, record)
  await archive.end()
  return Buffer.concat(blocks)
}

async function addRecord(archive: PersonArchive, record: ArchivedRecord): Promise<void> {
  const { trackerId, subjectId, events, sessions = Math.ceil(events / 10) } = record
  const { name = () => 'pageview', properties = () => ({}), attributes = {}, identifiers = [] } = record
  const subject = { trackerId, subjectId }
  const firstSeenAt = madeAt - 100 * dayMs
  const occurredAt = (event: number) => firstSeenAt + event * 3_600_000
  const counts = { sessions, events }
  const lastSeenAt = occurredAt(Math.max(events - 1, 0))
  const summary = { subjectId, firstSeenAt, lastSeenAt, counts, identifiers, attributes }
  await archive.take(subject, { kind: 'record', record: summary })
  const visits = Array.from({ length: sessions }, (_, i) => ({
    ...{ sessionId: `s${i}`, startedAt: occurredAt(i * 10), endedAt: occurredAt(i * 10 + 9) },
    ...{ counts: { events: 10 }, attributes: JSON.stringify(attributes) },
  }))
  await archive.take(subject, { kind: 'sessions', rows: visits })
  for (let from = 0; from < events; from += 20) {
    const rows = Array.from({ length: Math.min(20, events - from) }, (_, i) => ({
      ...{ eventId: `e${from + i}`, sessionId: `s${Math.floor((from + i) / 10)}`, name: name(from + i) },
      ...{ occurredAt: occurredAt(from + i), properties: JSON.stringify(properties(from + i)) },
    }))
    await archive.take(subject, { kind: 'events', rows })
  }
  await archive.finish()
}
