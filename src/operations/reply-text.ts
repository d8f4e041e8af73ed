import { commandLine, type Origin } from '../domain/activity.ts'
import { Problems } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { type Language, languages } from '../domain/language.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { tidyLines } from '../domain/organisation-profile.ts'
import type { Randomness } from '../domain/randomness.ts'
import {
  checkReplyText,
  defaultReplies,
  type ReplyName,
  type ReplyTextStore,
  replyNames,
} from '../domain/reply-text.ts'
import { activityNote } from './activity.ts'
import { requireOrganisation } from './organisation.ts'

interface ReplyTextDeps {
  organisations: OrganisationStore
  replyTexts: ReplyTextStore
}

interface ChangeDeps extends ReplyTextDeps {
  clock: Clock
  randomness: Randomness
}

/** A text as the organisation uses it. */
interface UsedReplyText {
  name: ReplyName
  language: Language
  text: string
  default: string
  /** When the organisation replaced the default; `null` if it did not. */
  changedAt: Instant | null
}

/** All texts in all languages, in the order in which they come up. */
export async function listReplyTexts(
  { replyTexts }: Pick<ReplyTextDeps, 'replyTexts'>,
  organisationId: string,
): Promise<UsedReplyText[]> {
  const own = await replyTexts.list(organisationId)
  return languages.flatMap((language) =>
    replyNames.map((name) => {
      const replaced = own.find((each) => each.name === name && each.language === language)
      const standard = defaultReplies[language][name]
      const { text = standard, changedAt = null } = replaced ?? {}
      return { name, language, text, default: standard, changedAt }
    }),
  )
}

interface ReplyTextKey {
  name: ReplyName
  language: Language
}

/**
 * Replaces a text. Throws `validation_error` for an unknown placeholder. Nothing is stored for a text that is
 * the default.
 */
export async function saveReplyText(
  deps: ChangeDeps,
  organisationId: string,
  { name, language }: ReplyTextKey,
  typed: string,
  origin: Origin = commandLine,
): Promise<void> {
  await requireOrganisation(deps, organisationId)
  const text = tidyLines(typed)
  const problems = new Problems()
  checkReplyText(name, text, problems)
  problems.throwIfAny()
  if (text === defaultReplies[language][name]) {
    await restoreReplyText(deps, organisationId, { name, language }, origin)
    return
  }
  const used = (await listReplyTexts(deps, organisationId)).find(
    (each) => each.name === name && each.language === language,
  )
  if (used?.text === text) return
  await deps.replyTexts.save(
    organisationId,
    { name, language, text, changedAt: deps.clock() },
    replyTextNote(deps, organisationId, 'reply-text.changed', { name, language }, origin),
  )
}

/** Uses the default again. Does nothing if it was not replaced. */
export async function restoreReplyText(
  deps: ChangeDeps,
  organisationId: string,
  { name, language }: ReplyTextKey,
  origin: Origin = commandLine,
): Promise<void> {
  const note = replyTextNote(deps, organisationId, 'reply-text.restored', { name, language }, origin)
  await deps.replyTexts.restore(organisationId, name, language, note)
}

function replyTextNote(
  deps: ChangeDeps,
  organisationId: string,
  kind: 'reply-text.changed' | 'reply-text.restored',
  { name, language }: ReplyTextKey,
  origin: Origin,
) {
  return activityNote(deps, origin, { organisationId, kind, target: `${name}, ${language}` })
}
