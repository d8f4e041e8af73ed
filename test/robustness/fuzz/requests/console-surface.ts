import { fileURLToPath } from 'node:url'
import { ensureConsole } from '../../../../bin/launch/console.js'
import { commandLine } from '../../../../src/domain/activity.ts'
import type { Member } from '../../../../src/domain/member.ts'
import { encodeCursor } from '../../../../src/domain/page.ts'
import { hashToken } from '../../../../src/domain/randomness.ts'
import { idleTimeoutMs, maxSignInMs } from '../../../../src/domain/sign-in.ts'
import type { Store } from '../../../../src/domain/store.ts'
import { createKey } from '../../../../src/operations/api-key.ts'
import { saveApprovalRule } from '../../../../src/operations/approval.ts'
import { startErasures } from '../../../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../../../src/operations/create-privacy-request.ts'
import { eraseSubject } from '../../../../src/operations/erase-subject.ts'
import { inviteMember } from '../../../../src/operations/member.ts'
import { createOrganisation } from '../../../../src/operations/organisation.ts'
import { saveLogo, saveProfile } from '../../../../src/operations/organisation-profile.ts'
import { saveReplyText } from '../../../../src/operations/reply-text.ts'
import { addRequestNote } from '../../../../src/operations/request-handling.ts'
import { createTracker } from '../../../../src/operations/tracker.ts'
import { editVariables } from '../../../../src/operations/variable.ts'
import { createVariableToken } from '../../../../src/operations/variable-token.ts'
import { addMember, note, signInToken } from '../../../support/console.ts'
import { scryptOnce } from '../../../support/scrypt-once.ts'
import { type Lifetime, startTestService, type TestService } from '../../../support/service.ts'
import { visit } from '../../../support/shop.ts'
import { cookies, origins } from './console-credentials.ts'
import { subjectIds } from './field-values.ts'
import { assertSafe, effectsOf, secret } from './judge-console.ts'
import { consoleOperations } from './operations.ts'
import type { Look, Surface } from './surface.ts'

/** The console under test: the members' own organisation, another one, and budgets that are never reached. */
export async function openConsoleSurface(lifetime: Lifetime): Promise<Surface> {
  await ensureConsole(fileURLToPath(new URL('../../../..', import.meta.url)))
  // Only this process reads the hashes.
  lifetime.after(scryptOnce(16))
  // Each request has its own client address, so that none uses the budget of another.
  const env = { LETHE_TRUSTED_PROXIES: '127.0.0.1/32', LETHE_LOG_LEVEL: 'warn' }
  const service = await startTestService(lifetime, env, { writesHere: false })
  const theirs = await settle(service, 'theirs', `${secret}-`)
  let own = await settle(service, 'own-0', '')
  let count = 0
  const surface: Surface = {
    ...service,
    operations: consoleOperations,
    inPath,
    cursors: ['{{cursor}}', '{{activityCursor}}', 'x'],
    senders: cookies,
    origins,
    meanings: {},
    isPipelined: false,
    effectsOf,
    /** Replaces an organisation that was changed with a new one. */
    async renew() {
      own = await settle(service, `own-${++count}`, '')
      surface.meanings = { ...(await meaningsOf(service, own)), ...named('their', theirs) }
    },
    look: () => lookAt(service, own),
    lookAtTheirs: () => lookAt(service, theirs),
    assertSafe,
    mayClash: null,
  }
  await surface.renew()
  return surface
}

/** Values for parameters: own, of another organisation, and unknown. */
const inPath: Record<string, readonly string[]> = {
  trackerId: ['{{trackerId}}', '{{trackerId}}', '{{trackerId}}', '{{theirTracker}}', 'nothing'],
  subjectId: subjectIds,
  keyId: ['{{keyId}}', '{{keyId}}', '{{theirKey}}', 'nothing'],
  tokenId: ['{{tokenId}}', '{{tokenId}}', '{{theirToken}}', 'nothing'],
  requestId: ['{{requestId}}', '{{accessId}}', '{{theirRequest}}', 'nothing'],
  // A member can close only this kind.
  'requestId of /console/api/requests/{requestId}/close': ['{{accessId}}', '{{theirRequest}}', 'nothing'],
  'requestId of /console/api/requests/{requestId}/approve': ['{{waitingId}}', '{{theirRequest}}', 'nothing'],
  'requestId of /console/api/requests/{requestId}/decline': ['{{waitingId}}', '{{theirRequest}}', 'nothing'],
  noteId: ['{{noteId}}', '{{noteId}}', '{{theirNote}}', 'nothing'],
  signInId: ['{{signInId}}', 'nothing'],
  passkeyId: ['nothing'],
  memberId: ['{{colleagueId}}', '{{colleagueId}}', '{{theirMember}}', '{{memberId}}', 'nothing'],
}

interface Settled {
  organisationId: string
  trackerId: string
  keyId: string
  keyName: string
  keyString: string
  tokenId: string
  member: Member
  colleague: Member
  listTracker: string
  requestId: string
  accessId: string
  waitingId: string
  noteId: string
}

/** An organisation with everything that requests can refer to. */
async function settle(service: TestService, id: string, prefix: string): Promise<Settled> {
  const { services } = service
  const organisationId = (await createOrganisation(services, { id, name: `${prefix}organisation` })).id
  const trackerId = `${id}-tracker`
  await createTracker(services, { organisationId, name: `${prefix}tracker`, id: trackerId })
  const keyName = `${prefix}key`
  const issued = await createKey(services, {
    ...{ organisationId, name: keyName, scopes: ['analytics:view'], expiresAt: null },
  })
  const { token } = await createVariableToken(services, { trackerId, name: `${prefix}token` })
  await editVariables(services, trackerId, { apply: () => new Map([['from', `${prefix}here`]]) })
  const profile = { displayName: `${prefix}name`, contact: `${prefix}contact`, language: 'de' } as const
  await saveProfile(services, organisationId, profile)
  const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><title>${prefix}logo</title></svg>`
  await saveLogo(services, organisationId, Buffer.from(logo))
  const text = { name: 'access.received', language: 'en' } as const
  await saveReplyText(services, organisationId, text, `${prefix}text`)
  const rows = subjectIds.flatMap((subjectId) =>
    ['s1', 's2'].flatMap((sessionId) =>
      visit(subjectId, { trackerId, sessionId, attributes: { from: `${prefix}here` } }),
    ),
  )
  await service.ingest([...rows, ...visit(`${prefix}bert`, { trackerId })])
  const listTracker = await createTracker(services, {
    organisationId,
    name: `${prefix}list`,
    id: `${id}-list`,
  })
  await service.ingest(visit('listed', { trackerId: listTracker.id }))
  const requests = await openRequests(service, organisationId, listTracker.id, prefix)
  // The ledger has an entry that can be requested.
  await eraseSubject(services, { organisationId, trackerId, since: 0 }, `${prefix}nobody`)
  return {
    ...{ organisationId, trackerId, keyId: issued.key.id, keyName, keyString: issued.keyString },
    ...{ tokenId: token.id, listTracker: listTracker.id, ...requests },
    member: await addMember(service, organisationId, `${prefix}member@${id}.example`),
    colleague: await addMember(service, organisationId, `${prefix}colleague@${id}.example`),
  }
}

/** One request of each kind, about people who are not used elsewhere. The erasure has a note. */
async function openRequests(
  { services }: TestService,
  organisationId: string,
  trackerId: string,
  prefix: string,
) {
  const view = { organisationId, since: 0 }
  const person = { identifiers: [], subjects: [{ trackerId, subjectId: 'listed' }] }
  const wanted = { person, receivedAt: null, reference: `${prefix}reference`, requestId: null }
  const erasure = await createRequest(services, view, { kind: 'erasure', ...wanted }, commandLine)
  const access = await createRequest(services, view, { kind: 'access', ...wanted }, commandLine)
  await addRequestNote(services, organisationId, erasure.id, `${prefix}note`, commandLine)
  const [note] = await services.requestHandling.notes(erasure)
  const waiting = { ...wanted, kind: 'erasure', reference: `${prefix}waiting` } as const
  const { id: waitingId } = await createRequest(services, view, waiting, commandLine)
  const actor = { kind: 'member', id: 'mem_asker', name: `${prefix}asker` } as const
  await saveApprovalRule(services, organisationId, 1_000, commandLine)
  const ref = { organisationId, id: waitingId }
  const asking = { ...commandLine, actor, organisationId }
  await startErasures(services, [{ ...ref, found: access.found }], asking, { people: 2_000, started: 0 })
  return { requestId: erasure.id, accessId: access.id, waitingId, noteId: note?.id ?? '' }
}

function named(prefix: string, settled: Settled): Record<string, string> {
  const { trackerId, keyId, tokenId, member, requestId, noteId } = settled
  const ids = { [`${prefix}Tracker`]: trackerId, [`${prefix}Key`]: keyId, [`${prefix}Member`]: member.id }
  const requests = { [`${prefix}Request`]: requestId, [`${prefix}Note`]: noteId }
  return { ...ids, ...requests, [`${prefix}Token`]: tokenId }
}

async function meaningsOf(service: TestService, own: Settled): Promise<Record<string, string>> {
  const { organisationId, trackerId, keyId, keyName, keyString, member, colleague } = own
  const { tokenId, listTracker, requestId, accessId, waitingId, noteId } = own
  const now = service.services.clock()
  const pending = { organisationId, email: `pending@${organisationId}.example` }
  const { token: link } = await inviteMember(service.services, pending, commandLine)
  const ended = await signInToken(service, member)
  await service.services.signIns.end(hashToken(ended), note(service, organisationId, 'member.signed-out'))
  const old = await signInToken(service, member, { startedAt: now - maxSignInMs, lastSeenAt: now })
  const session = await signInToken(service, member)
  const elsewhere = await signInToken(service, member)
  const [viewer = '', desk = ''] = await Promise.all(
    (['viewer', 'desk'] as const).map(async (role) =>
      signInToken(
        service,
        await addMember(service, organisationId, `${role}@${organisationId}.example`, role),
      ),
    ),
  )
  // Created last, because each sign-in deletes those that have expired. Its start is slightly later than
  // that, so that the other sign-ins are not in the future yet.
  const last = service.services.clock()
  const idle = await signInToken(service, member, {
    startedAt: last - idleTimeoutMs + 1_000,
    lastSeenAt: last - idleTimeoutMs,
  })
  return {
    ...{ organisationId, trackerId, keyId, keyName, keyString, link },
    ...{ tokenId, listTracker, requestId, accessId, waitingId, noteId },
    ...{ memberId: member.id, colleagueId: colleague.id, email: colleague.email },
    ...{ ended, old, idle, session, viewer, desk, signInId: `id-of-${hashToken(elsewhere)}` },
    ...{ viewerSignIn: `id-of-${hashToken(viewer)}`, deskSignIn: `id-of-${hashToken(desk)}` },
    adminSignIn: `id-of-${hashToken(elsewhere)}`,
    cursor: encodeCursor(['subjects', trackerId, 'subjectId', null, null, null], 0, 'a'),
    activityCursor: encodeCursor(['activity', organisationId, null, null, null, null, null], now, 'x'),
  }
}

const untimely = ['member.sign-in-failed', 'request.finished']

async function lookAt({ services }: TestService, settled: Settled): Promise<Look> {
  const { organisationId, trackerId, listTracker } = settled
  const { apiKeys, members, trackers, variables, variableTokens, subjects, activity } = services
  const { organisationProfiles, replyTexts } = services
  const first = { limit: 200, after: null }
  const bounds = { subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const { rows } = await activity.list(organisationId, { ...first, requestId: null })
  return {
    // The time of a key's last use is recorded with a delay, and is not a member's change.
    keys: JSON.stringify((await apiKeys.list(organisationId)).map((key) => ({ ...key, lastUsedAt: null }))),
    members: JSON.stringify(await members.list(organisationId)),
    trackers: JSON.stringify(await trackers.list(organisationId)),
    variables: JSON.stringify([await variables.current(trackerId), await variableTokens.list(trackerId)]),
    profile: JSON.stringify([
      await organisationProfiles.find(organisationId),
      await organisationProfiles.findLogo(organisationId),
      await replyTexts.list(organisationId),
    ]),
    subjects: JSON.stringify(
      await subjects.list(
        { organisationId, trackerId, since: 0 },
        { sort: 'subjectId', ...first, ...bounds },
      ),
    ),
    requests: JSON.stringify(await requestsOf(services, organisationId)),
    // Failed sign-ins and the erasures of running requests are recorded with a delay.
    activity: JSON.stringify(
      rows.filter(({ kind, target }) => !untimely.includes(kind) && target !== listTracker),
    ),
  }
}

/** Without what a running erasure changes, because the service decides when it runs. */
async function requestsOf({ privacyRequests, requestHandling }: Store, organisationId: string) {
  const every = { limit: 200, after: null, state: null, kind: null, dueBefore: null }
  const { rows } = await privacyRequests.list(organisationId, every)
  return Promise.all(
    rows.map(async (request) => {
      const { id, dueAt, reference, assigneeId, rejectionReason, state } = request
      const isStarted = request.startedBy !== null
      return {
        ...{ id, dueAt, reference, assigneeId, rejectionReason, state: isStarted ? 'started' : state },
        notes: isStarted ? [] : await requestHandling.notes(request),
        exclusions: await requestHandling.exclusions(request),
      }
    }),
  )
}
