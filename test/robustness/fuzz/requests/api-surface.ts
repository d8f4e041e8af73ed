import { commandLine } from '../../../../src/domain/activity.ts'
import { encodeCursor } from '../../../../src/domain/page.ts'
import { revokeKey } from '../../../../src/operations/api-key.ts'
import { createRequest } from '../../../../src/operations/create-privacy-request.ts'
import { dataOf, textIn } from '../../../support/answers.ts'
import { type Lifetime, startTestService, type TestService } from '../../../support/service.ts'
import { subjectPath, subjectsPath, visit } from '../../../support/shop.ts'
import { subjectIds } from './field-values.ts'
import { apiOperations } from './operations.ts'
import type { Credential, Surface } from './surface.ts'

const allSubjectIds = [...subjectIds, 'ü ö', '%', "x'--", '...']

/** The API under test: two organisations with a tracker each, keys of every kind, and ample budgets. */
export interface ApiSurface extends Surface {
  /** Lists that continue from a forged cursor. */
  forgedTargets: string[]
}

/** A key as a sender. Without a scope, it is refused where that scope is required. */
function keyNamed(name: string, has: (scope: string) => boolean = () => true): Credential {
  const refusal: Credential['refusal'] = ({ access }) => (has(access) ? null : 'forbidden')
  return { lines: [['Authorization', `Bearer {{${name}}}`]], refusal }
}

const strange = (...lines: Credential['lines']): Credential => ({
  lines,
  refusal: ({ access }) => (access === 'public' ? null : 'unauthorized'),
})

const senders: Record<string, Credential> = {
  full: keyNamed('full'),
  view: keyNamed('view', (scope) => scope === 'analytics:view' || scope === 'public'),
  erase: keyNamed('erase', (scope) => scope === 'analytics:delete-data' || scope === 'public'),
  manage: keyNamed('manage', (scope) => scope === 'analytics:manage-requests' || scope === 'public'),
  collect: keyNamed('collect', (scope) => scope === 'analytics:collect' || scope === 'public'),
  foreign: keyNamed('foreign'),
  revoked: strange(['Authorization', 'Bearer {{revoked}}']),
  expired: strange(['Authorization', 'Bearer {{expired}}']),
  damaged: strange(['Authorization', 'Bearer {{damaged}}']),
  none: strange(),
}

export async function openApi(lifetime: Lifetime): Promise<ApiSurface> {
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
  // Erased people come back with data newer than everything before.
  let startedAt = service.services.clock()
  const renew = async () => {
    startedAt = Math.max(startedAt, service.services.clock()) + 10_000
    const rows = ['shop', 'blog'].flatMap((trackerId) =>
      allSubjectIds.flatMap((subjectId) => [
        ...visit(subjectId, { trackerId, startedAt, events: 3 }),
        ...visit(subjectId, { trackerId, startedAt, sessionId: 's2' }),
      ]),
    )
    await service.ingest(rows)
    meanings.erasure = await addRequest(service, own, 'erasure')
    meanings.access = await addRequest(service, own, 'access')
    meanings.theirs = await addRequest(service, rival, 'access')
  }
  const meanings: Record<string, string> = { trackerId: 'shop', theirTracker: 'blog' }
  await renew()
  const full = (await service.createKey(own)).keyString
  const revoked = await service.createKey(own)
  await revokeKey(service.services, revoked.key.id, revoked.key.name)
  const expired = await service.createKey(own, undefined, Date.now() + 60_000)
  service.passTime(60_000)
  const cursors = await issuedCursors(service, full)
  return {
    ...service,
    operations: apiOperations,
    inPath: {
      ...{ trackerId: ['shop', 'shop', 'shop', 'blog', 'nothing'], subjectId: allSubjectIds },
      requestId: ['{{erasure}}', '{{erasure}}', '{{access}}', '{{theirs}}', 'nothing'],
      'requestId of /v1/analytics/requests/{requestId}/close': ['{{access}}', '{{theirs}}', 'nothing'],
    },
    cursors: [...cursors, ...forgedCursors().map(({ cursor }) => cursor)],
    senders,
    origins: { none: { lines: [], refusal: () => null } },
    meanings: Object.assign(meanings, {
      full,
      view: (await service.createKey(own, ['analytics:view'])).keyString,
      erase: (await service.createKey(own, ['analytics:delete-data'])).keyString,
      manage: (await service.createKey(own, ['analytics:manage-requests'])).keyString,
      collect: (await service.createKey(own, ['analytics:collect'])).keyString,
      foreign: (await service.createKey(rival)).keyString,
      revoked: revoked.keyString,
      expired: expired.keyString,
      damaged: `${full.slice(0, -1)}!`,
    }),
    isPipelined: true,
    effectsOf: ({ method }, { path }, { status }) =>
      status === 200 && (method === 'DELETE' || path.startsWith('/v1/analytics/requests/{requestId}/'))
        ? ['subjects or requests']
        : [],
    renew,
    look: async () => ({}),
    lookAtTheirs: async () => ({}),
    assertSafe: () => {},
    // Invalid combinations, a missing alternative, an instant that is too precise, an index beyond the
    // ledger, or a request in another state.
    mayClash: [
      ...['cursor', 'from', 'subjectIdPrefix', 'lastSeenAfter', 'lastSeenBefore', 'identifier', 'subjectId'],
      ...[
        'person',
        'receivedAt',
        'dueBefore',
        'requestId',
        'state',
        'kind',
        'extendedAt',
        'reason',
        'reference',
        'lines',
      ],
    ],
    forgedTargets: forgedCursors().map(
      ({ list, cursor }) => `${list}${list.includes('?') ? '&' : '?'}cursor=${cursor}`,
    ),
  }
}

/** A request of a person about whom nothing is stored. */
async function addRequest(
  { services }: TestService,
  organisationId: string,
  kind: 'access' | 'erasure',
): Promise<string> {
  const person = { identifiers: [{ name: 'email', value: 'ada@example.com' }], subjects: [] }
  const wanted = { kind, person, receivedAt: null, reference: null, requestId: null }
  return (await createRequest(services, { organisationId, since: 0 }, wanted, commandLine)).id
}

/** The lists with cursors, and the query to which their cursors are bound. */
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

/** Cursors that anyone can make from the source code: their digest has no secret. */
function forgedCursors(): { list: string; cursor: string }[] {
  const ids = ['anna', '', '\u0000', 'a\u0000', '\ud800', 'x'.repeat(3_000), "'; DROP TABLE subjects; --"]
  const instants = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1.5, Number.NaN]
  return lists.flatMap(([list, identity]) => [
    ...ids.map((id) => ({ list, cursor: encodeCursor(identity, 0, id) })),
    ...instants.map((at) => ({ list, cursor: encodeCursor(identity, at, 'anna') })),
  ])
}
