import type { ActivityStore, DataCounts } from '../domain/activity.ts'
import type { Clock } from '../domain/instant.ts'
import type { Language } from '../domain/language.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { documentName, type OrganisationProfileStore } from '../domain/organisation-profile.ts'
import type { PrivacyRequest, PrivacyRequestStore } from '../domain/privacy-request.ts'
import { fillReply, type ReplyFacts, type ReplyName, type ReplyTextStore } from '../domain/reply-text.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { requireProfile } from './organisation-profile.ts'
import { readRequest } from './privacy-request.ts'
import { listReplyTexts } from './reply-text.ts'
import { countCopied, type RequestSearchDeps, searchRequest } from './search-request.ts'

interface ReplyDeps extends RequestSearchDeps {
  privacyRequests: PrivacyRequestStore
  activity: ActivityStore
  organisations: OrganisationStore
  organisationProfiles: OrganisationProfileStore
  replyTexts: ReplyTextStore
  clock: Clock
}

/** The texts that fit a request, with all facts filled in. */
interface RequestReply {
  language: Language
  /** The text to answer with now; `null` if none fits. */
  suggested: ReplyName | null
  replies: { name: ReplyName; text: string }[]
}

/** In the organisation's language if `language` is `null`. Throws `not_found`. */
export async function replyToRequest(
  deps: ReplyDeps,
  view: OrganisationView,
  requestId: string,
  { language: wanted, verifyLink }: { language: Language | null; verifyLink: string },
): Promise<RequestReply> {
  const request = await readRequest(deps, view, requestId)
  const { organisation, profile } = await requireProfile(deps, view.organisationId)
  const language = wanted ?? profile.language
  const texts = await listReplyTexts(deps, view.organisationId)
  const now = deps.clock()
  const { reference, id, receivedAt, dueAt, closedAt } = request
  // Nothing is proven about records that a member excluded.
  const isProven = await deps.privacyRequests.hasEntries(request)
  const facts: Omit<ReplyFacts, 'reason'> = {
    ...{ organisation: documentName(profile, organisation), contact: profile.contact },
    ...{ reference: reference ?? id, receivedAt, dueAt, closedAt: closedAt ?? now, today: now },
    ...{ ...(await countsOf(deps, view, request)), verifyLink: isProven ? verifyLink : null },
  }
  const story = await deps.activity.ofPrivacyRequest(request, 100)
  const isExported = story.some((entry) => entry.kind === 'request.exported')
  const { names, suggested } = fittingReplies(request, isExported)
  const replies = names.flatMap((name) => {
    const used = texts.find((each) => each.name === name && each.language === language)
    return used
      ? [{ name, text: fillReply(used.text, { ...facts, reason: reasonFor(name, request) }, language) }]
      : []
  })
  return { language, suggested, replies }
}

/** What was erased, or what the copy contains. */
async function countsOf(
  deps: RequestSearchDeps,
  view: OrganisationView,
  request: PrivacyRequest,
): Promise<DataCounts> {
  const { kind, state, person, erased, found } = request
  if (kind === 'erasure') return erased
  if (state === 'open' && person !== null)
    return countCopied(await searchRequest(deps, view, { ...request, person }))
  // Without visible data, `found` is what was hidden.
  return found.sessions + found.events > 0 ? found : { ...found, subjects: 0 }
}

function reasonFor(name: ReplyName, { extensionReason, rejectionReason }: PrivacyRequest): string | null {
  return name.endsWith('.rejected') ? rejectionReason : extensionReason
}

/** A text states facts, so it fits only once they are true. */
function fittingReplies(
  request: PrivacyRequest,
  isExported: boolean,
): { names: ReplyName[]; suggested: ReplyName | null } {
  const { kind, state, extendedAt } = request
  if (state === 'cancelled') return { names: [], suggested: null }
  if (state === 'rejected') return only(`${kind}.rejected`)
  const answer = answerTo(request)
  if (state === 'done') return only(answer)
  const before: ReplyName[] = [`${kind}.received`, `${kind}.more-information`]
  if (extendedAt !== null) before.push(`${kind}.extended`)
  // An erasure is answered when it is done; an access request is closed after the answer.
  if (kind === 'erasure') return { names: before, suggested: latest(request) }
  const isAnswered = isExported || answer === 'access.nothing-held'
  return { names: [...before, answer], suggested: isAnswered ? answer : latest(request) }
}

function answerTo({ kind, found, erased }: PrivacyRequest): ReplyName {
  if (kind === 'access') return found.subjects > 0 ? 'access.copy-ready' : 'access.nothing-held'
  if (erased.subjects > 0) return 'erasure.erased'
  // What was found may have been deleted with its tracker before its turn came.
  return found.subjects > 0 ? 'erasure.already-deleted' : 'erasure.nothing-held'
}

function latest({ kind, extendedAt }: PrivacyRequest): ReplyName {
  return extendedAt === null ? `${kind}.received` : `${kind}.extended`
}

function only(name: ReplyName): { names: ReplyName[]; suggested: ReplyName } {
  return { names: [name], suggested: name }
}
