import assert from 'node:assert/strict'
import { encodeCursor } from '../../../../src/domain/cursor.ts'
import { revokeKey } from '../../../../src/operations/key/revoke-key.ts'
import { dataOf, textIn } from '../../../support/answers.ts'
import { type Lifetime, startTestService, type TestService } from '../../../support/service.ts'
import { subjectPath, subjectsPath, visit } from '../../../support/shop.ts'
import type { GeneratedRequest, KeyKind } from './generated-request.ts'
import type { Known } from './parameter-values.ts'

const subjectIds = ['anna', 'a/b', '🦦', 'ü ö', '%', "x'--", '...']

/** A service to attack: two organisations with a tracker each, keys of every kind, and budgets out of the way. */
export interface TargetService extends TestService {
  known: Known
  keys: Record<Exclude<KeyKind, 'none'>, string>
  /** Lists that are asked to go on from where nobody has been. */
  forgedTargets: string[]
  /** Puts back what was erased. */
  refill(): Promise<void>
}

export async function startTarget(lifetime: Lifetime): Promise<TargetService> {
  const env = {
    LETHE_LIMIT_IP: '999999999/day',
    LETHE_LIMIT_KEY: '999999999/day',
    LETHE_LIMIT_ERASURE: '999999999/day',
    LETHE_LOG_LEVEL: 'warn',
  }
  const service = await startTestService(lifetime, env, { writesHere: false })
  const [own, rival] = [await service.createOrganisation(), await service.createOrganisation()]
  await service.createTracker(own, 'shop')
  await service.createTracker(rival, 'blog')
  // Whoever was erased comes back later than anything that was.
  let startedAt = service.services.clock()
  const refill = () => {
    startedAt += 10_000
    const rows = ['shop', 'blog'].flatMap((trackerId) =>
      subjectIds.flatMap((subjectId) => [
        ...visit(subjectId, { trackerId, startedAt, events: 3 }),
        ...visit(subjectId, { trackerId, startedAt, sessionId: 's2' }),
      ]),
    )
    return service.ingest(rows)
  }
  await refill()
  const full = (await service.createKey(own)).keyString
  const revoked = await service.createKey(own)
  await revokeKey(service.services, revoked.key.id, revoked.key.name)
  const expired = await service.createKey(own, undefined, Date.now() + 60_000)
  service.passTime(60_000)
  return {
    ...service,
    refill,
    keys: {
      full,
      view: (await service.createKey(own, ['analytics:view'])).keyString,
      erase: (await service.createKey(own, ['analytics:delete-data'])).keyString,
      foreign: (await service.createKey(rival)).keyString,
      revoked: revoked.keyString,
      expired: expired.keyString,
      damaged: `${full.slice(0, -1)}!`,
    },
    known: {
      trackerIds: ['shop', 'shop', 'shop', 'blog', 'nothing'],
      subjectIds,
      cursors: [...(await issuedCursors(service, full)), ...forgedCursors().map(({ cursor }) => cursor)],
    },
    forgedTargets: forgedCursors().map(
      ({ list, cursor }) => `${list}${list.includes('?') ? '&' : '?'}cursor=${cursor}`,
    ),
  }
}

/** The lists that go on with a cursor, and what such a cursor is bound to. */
const lists: [path: string, identity: (string | null)[]][] = [
  [subjectsPath, ['subjects', 'shop', 'subjectId', null, null, null]],
  [`${subjectsPath}?sort=-lastSeenAt`, ['subjects', 'shop', '-lastSeenAt', null, null, null]],
  [`${subjectPath('anna')}/sessions`, ['sessions', 'shop', 'anna']],
  [`${subjectPath('anna')}/events`, ['events', 'shop', 'anna', null]],
]

async function issuedCursors(service: TestService, key: string): Promise<string[]> {
  const pages = lists.map(([list]) => service.ask(`${list}${list.includes('?') ? '&' : '?'}limit=1`, { key }))
  return (await Promise.all(pages)).map((answer) => textIn(dataOf(answer), 'nextCursor'))
}

/** What anyone can make who has read the source: the digest of a cursor is no secret. */
function forgedCursors(): { list: string; cursor: string }[] {
  const ids = ['anna', '', '\u0000', 'a\u0000', '\ud800', 'x'.repeat(3_000), "'; DROP TABLE subjects; --"]
  const instants = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1.5, Number.NaN]
  return lists.flatMap(([list, identity]) => [
    ...ids.map((id) => ({ list, cursor: encodeCursor(identity, 0, id) })),
    ...instants.map((at) => ({ list, cursor: encodeCursor(identity, at, 'anna') })),
  ])
}

/** The bytes of a request, one for each character. */
export function bytesOf({ keys }: TargetService, request: GeneratedRequest): string {
  const { method, target, key, headers, body, version } = request
  const lines = [`${method} ${target} HTTP/${version}`]
  const names = headers.map(([name]) => name.toLowerCase())
  if (!names.includes('host')) lines.push('Host: test')
  if (key !== 'none') lines.push(`Authorization: Bearer ${keys[key]}`)
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Fails when the service has logged a failure. */
export function assertNothingFailed({ logged }: TestService): void {
  assert.deepEqual(logged.slice(0, 3), [])
}
