import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import type { ActivityKind, ActivityNote } from '../../src/domain/activity.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { Member, Role } from '../../src/domain/member.ts'
import { hashToken } from '../../src/domain/randomness.ts'
import type { SignIn } from '../../src/domain/sign-in.ts'
import { dataOf, objectIn, textIn } from './answers.ts'
import type { Answer } from './documented.ts'
import { openRawConnection, type RawConnection, requestText } from './raw-http.ts'
import type { TestService } from './service.ts'
import { until } from './until.ts'

export const password = 'correct horse battery'

/** The hash of that password, with a cost so low that tests need not wait for it. */
const passwordHash = `scrypt$4$8$1$salt$${scryptSync(password, 'salt', 32, { N: 16, r: 8, p: 1 }).toString('base64url')}`

export interface ConsoleAsk {
  method?: string
  body?: unknown
  /** `null` removes a header that is otherwise sent. */
  headers?: Record<string, string | null>
}

/** A browser at the console of a service: it keeps its cookies and sends its origin. */
export interface ConsoleClient {
  member: Member
  ask(path: string, ask?: ConsoleAsk): Promise<Answer>
  /** The session cookie, as `name=value`. */
  cookie: string | null
  /** The cookie that recognises this browser from an earlier sign-in. */
  mark: string | null
  /** The cookie that it has while it is at the identity provider. */
  roundTrip: string | null
}

/** A browser without a sign-in. */
export function visitor({ url }: Pick<TestService, 'url'>): Omit<ConsoleClient, 'member'> {
  const client = {
    cookie: null as string | null,
    mark: null as string | null,
    roundTrip: null as string | null,
    async ask(path: string, { method = 'GET', body, headers = {} }: ConsoleAsk = {}): Promise<Answer> {
      const sent = {
        cookie:
          [client.cookie, client.mark, client.roundTrip].filter((pair) => pair !== null).join('; ') || null,
        ...(method !== 'GET' && { origin: url, 'content-type': 'application/json' }),
        ...headers,
      }
      const response = await fetch(`${url}/console/api${path}`, {
        method,
        headers: Object.entries(sent).filter((header): header is [string, string] => header[1] !== null),
        ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
      })
      for (const [pair = ''] of response.headers.getSetCookie().map((cookie) => cookie.split(';'))) {
        if (pair.includes('lethe-browser=')) client.mark = pair
        else if (pair.includes('lethe-single-sign-on=')) client.roundTrip = pair
        else client.cookie = pair.endsWith('=') ? null : pair
      }
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? null : JSON.parse(text),
      }
    },
  }
  return client
}

/** Strings and buffers are sent unchanged; everything else is sent as JSON. */
function isRaw(body: unknown): body is string | Buffer<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Buffer
}

let count = 0

/** The activity note of a change on the command line. */
export function note({ services }: TestService, organisationId: string, kind: ActivityKind): ActivityNote {
  const actor = { kind: 'command-line' } as const
  const id = services.randomness.uuid()
  return { id, organisationId, at: services.clock(), actor, kind, target: null, requestId: null }
}

/** Adds a member with the password above. */
export async function addMember(
  service: TestService,
  organisationId: string,
  email?: string,
  role: Role = 'admin',
): Promise<Member> {
  const { members, clock } = service.services
  const now = clock()
  const id = `mem_${++count}`
  const member = {
    id,
    organisationId,
    email: email ?? `member-${count}@acme.example`,
    role,
    createdAt: now,
    passwordSetAt: now,
    isConnected: false,
    language: null,
  }
  const link = { tokenHash: `link-${id}`, expiresAt: now + 1 }
  assert.ok(await members.create(member, link, note(service, organisationId, 'member.invited')))
  const joined = note(service, organisationId, 'member.joined')
  assert.ok(await members.setPassword(link.tokenHash, passwordHash, now, joined))
  return member
}

/** A sign-in with the password, started at `now`. */
export function newSignIn(memberId: string, tokenHash: string, now: Instant): SignIn {
  return {
    ...{ tokenHash, id: `id-of-${tokenHash}`, memberId, method: 'password' },
    ...{ startedAt: now, lastSeenAt: now, verifiedAt: now, device: null, address: null },
  }
}

/** Signs a member in, now or at the given times, and returns the token. */
export async function signInToken(
  service: TestService,
  member: Member,
  times: { startedAt?: Instant; lastSeenAt?: Instant; verifiedAt?: Instant } = {},
): Promise<string> {
  const { signIns, clock, randomness } = service.services
  const token = randomness.base62(43)
  const signIn = { ...newSignIn(member.id, hashToken(token), clock()), ...times }
  const begun = note(service, member.organisationId, 'member.signed-in')
  assert.ok(await signIns.begin(signIn, member.passwordSetAt ?? 0, begun))
  return token
}

/** A browser in which the member is signed in. */
export async function signedIn(service: TestService, member: Member): Promise<ConsoleClient> {
  const client = visitor(service)
  client.cookie = `lethe-console=${await signInToken(service, member)}`
  return Object.assign(client, { member })
}

/** A second browser with a copy of the first one's session cookie. */
export function copyOf(service: Pick<TestService, 'url'>, { cookie }: Pick<ConsoleClient, 'cookie'>) {
  return Object.assign(visitor(service), { cookie })
}

/** A request on its own connection, which a test can complete or break off. */
interface RawPost extends RawConnection {
  /** Sends the rest of the body. */
  sendRest(): void
}

/** Sends a POST as a browser does, with its body up to `end`. */
export async function rawPost(
  { url }: Pick<TestService, 'url'>,
  { cookie }: Pick<ConsoleClient, 'cookie'>,
  path: string,
  body: object,
  { requestId, end }: { requestId?: string; end?: number } = {},
): Promise<RawPost> {
  const text = JSON.stringify(body)
  const headers = {
    ...{ Host: new URL(url).host, Origin: url, Cookie: cookie ?? '' },
    ...{ 'Content-Type': 'application/json', 'Content-Length': String(text.length) },
    ...(requestId !== undefined && { 'X-Request-Id': requestId }),
  }
  const connection = await openRawConnection(url)
  connection.send(requestText(`/console/api${path}`, { method: 'POST', headers, body: text.slice(0, end) }))
  return { ...connection, sendRest: () => connection.send(text.slice(end ?? text.length)) }
}

/** Signs the same member in again in the same browser. */
export async function signInAgain(service: TestService, client: ConsoleClient): Promise<void> {
  client.cookie = `lethe-console=${await signInToken(service, client.member)}`
}

/** Adds a member and signs them in. */
export async function openConsole(
  service: TestService,
  organisationId: string,
  email?: string,
  role?: Role,
): Promise<ConsoleClient> {
  return signedIn(service, await addMember(service, organisationId, email, role))
}

/** Whom a request erases: these data subjects, or everyone with these identifiers. */
export interface ErasedPerson {
  identifiers?: { name: string; value: string }[]
  subjects?: { trackerId: string; subjectId: string }[]
}

/** Erases a person with a request, as the console does, and waits until it is done. Returns its ID. */
export async function eraseWithRequest(
  { services }: Pick<TestService, 'services'>,
  client: ConsoleClient,
  { identifiers = [], subjects = [] }: ErasedPerson,
  expected = 1,
  reference?: string,
): Promise<string> {
  const { organisationId } = client.member
  const body = { kind: 'erasure', person: { identifiers, subjects }, reference }
  const created = dataOf(await client.ask('/requests', { method: 'POST', body }))
  const id = textIn(objectIn(created, 'request'), 'requestId')
  dataOf(await client.ask(`/requests/${id}/erase`, { method: 'POST', body: { subjects: expected } }))
  await until(async () => (await services.privacyRequests.find({ organisationId, id }))?.state === 'done')
  return id
}

/** Erases data subjects of the shop one after the other, and waits until each is done. */
export async function eraseAtConsole(
  service: TestService,
  client: ConsoleClient,
  ...subjectIds: string[]
): Promise<void> {
  for (const subjectId of subjectIds)
    await eraseWithRequest(service, client, { subjects: [{ trackerId: 'shop', subjectId }] })
}
