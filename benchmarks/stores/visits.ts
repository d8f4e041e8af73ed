// Deterministic visits, as a tracker would export them: each session has one line and four events.
import type { IncomingRow } from '../../src/domain/ingest.ts'

export const tracker = 'bench'
const linesPerSession = 5
const sessionsPerSubject = 3
const openAtOnce = 200
const daysBack = 150

/** The order of lines: by time, with many visitors interleaved, or shuffled. */
export type LineOrder = 'by time' | 'shuffled'

/** The number of subjects in a file with this many lines. */
export function subjectsIn(lines: number): number {
  return Math.ceil(lines / linesPerSession / sessionsPerSubject)
}

export function* visits(lines: number, order: LineOrder): Generator<IncomingRow> {
  const block = openAtOnce * linesPerSession
  const subjects = subjectsIn(lines)
  const firstStart = Date.now() - daysBack * 86_400_000
  const stepMs = (daysBack * 86_400_000) / (lines / linesPerSession + openAtOnce)
  for (let line = 0; line < lines; line++) {
    const place = order === 'shuffled' ? (line * 7_919) % lines : line
    const within = place % block
    const session = Math.floor(place / block) * openAtOnce + (within % openAtOnce)
    const part = Math.floor(within / openAtOnce)
    const startedAt = Math.floor(firstStart + session * stepMs)
    const owner = {
      trackerId: tracker,
      subjectId: `visitor-${((session * 48_271) % subjects).toString().padStart(8, '0')}`,
      sessionId: `session-${session.toString(36)}`,
    }
    yield part === 0
      ? {
          type: 'session',
          ...owner,
          startedAt,
          endedAt: startedAt + 90_000,
          attributes: { country: 'DE', language: 'de', device: 'desktop', os: 'Linux', browser: 'Firefox' },
        }
      : {
          type: 'event',
          ...owner,
          eventId: `event-${session.toString(36)}-${part}`,
          name: part === 4 ? 'purchase' : 'pageview',
          occurredAt: startedAt + part * 20_000,
          properties: { url: `https://shop.example/products/${session % 977}`, title: 'A page of the shop' },
        }
  }
}
