import { formatInstantOrNull } from '../../domain/instant.ts'
import { languages } from '../../domain/language.ts'
import { documentName } from '../../domain/organisation-profile.ts'
import {
  fillReply,
  maxReplyLength,
  placeholders,
  placeholdersIn,
  replyNames,
  sampleFacts,
} from '../../domain/reply-text.ts'
import { type OrganisationWithProfile, requireProfile } from '../../operations/organisation-profile.ts'
import { listReplyTexts, restoreReplyText, saveReplyText } from '../../operations/reply-text.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { list, listedChoice, object, oneOf, orNull, text } from '../schema.ts'
import { instant, Nothing } from './fields.ts'
import { language } from './organisation-profile.ts'

const ReplyText = object(
  {
    name: oneOf(replyNames),
    language: oneOf(languages),
    text: text(),
    default: text(),
    changedAt: orNull(instant),
    placeholders: list(text()),
  },
  { title: 'ReplyText' },
)

/** A value for each placeholder, to show a text with. */
const Sample = object({ name: text(), en: text(), de: text() })

const ReplyTextList = object(
  { language: oneOf(languages), texts: list(ReplyText), samples: list(Sample) },
  { title: 'ReplyTextList' },
)

const name = listedChoice(replyNames)

/** The operation counts characters and names problems; this only limits what it has to read. */
const replyText = text({
  maxLength: 2 * maxReplyLength + 2_000,
  'x-rule': `a text of at most ${maxReplyLength} characters`,
})

export const replyTextRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/reply-texts',
    access: 'viewer',
    response: ReplyTextList,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const texts = await listReplyTexts(services, organisationId)
      const own = await requireProfile(services, organisationId)
      const present = (each: (typeof texts)[number]) => ({
        ...each,
        changedAt: formatInstantOrNull(each.changedAt),
        placeholders: [...placeholdersIn(each.name)],
      })
      return { language: own.profile.language, texts: texts.map(present), samples: samplesFor(own) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/reply-texts',
    access: 'admin',
    body: { name, language, text: replyText },
    maxBodyBytes: 128 * 1024,
    bodyNamesNobody: true,
    response: Nothing,
    async handle({ services, context, body }) {
      const { organisationId } = identityOf(context)
      await saveReplyText(services, organisationId, body, body.text, originOf(context))
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/reply-texts/restore',
    access: 'admin',
    body: { name, language },
    bodyNamesNobody: true,
    response: Nothing,
    async handle({ services, context, body }) {
      await restoreReplyText(services, identityOf(context).organisationId, body, originOf(context))
      return {}
    },
  }),
]

/** Sample facts of a request, with the organisation's own name and contact. */
function samplesFor({ organisation, profile }: OrganisationWithProfile) {
  const own = {
    organisation: documentName(profile, organisation),
    ...(profile.contact !== null && { contact: profile.contact }),
  }
  return placeholders.map((name) => ({
    name,
    en: fillReply(`{${name}}`, { ...sampleFacts.en, ...own }, 'en'),
    de: fillReply(`{${name}}`, { ...sampleFacts.de, ...own }, 'de'),
  }))
}
