import { notFound } from '../../domain/errors.ts'
import { languages } from '../../domain/language.ts'
import { maxLogoBytes } from '../../domain/organisation-profile.ts'
import {
  type OrganisationWithProfile,
  removeLogo,
  requireProfile,
  saveLogo,
  saveProfile,
} from '../../operations/organisation-profile.ts'
import { safeHeaders } from '../asset.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, list, listedChoice, object, oneOf, optional, orNull, text } from '../schema.ts'
import { typed } from './fields.ts'

const LogoFacts = object({ width: integer(), height: integer(), digest: text() })

const profileFields = {
  organisation: text(),
  displayName: orNull(text()),
  contact: orNull(text()),
  language: oneOf(languages),
  logo: orNull(LogoFacts),
}

const OrganisationProfile = object(profileFields, { title: 'OrganisationProfile' })

const SavedLogo = object({ ...profileFields, removed: list(text()) }, { title: 'SavedLogo' })

const logoPath = '/console/api/organisation/logo'

const maxEncodedLength = Math.ceil(maxLogoBytes / 3) * 4

/** An SVG can be opened in a tab of its own; nothing in it may then be loaded or run. */
const imagePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

const extensions = { 'image/svg+xml': 'svg', 'image/png': 'png' }

export const language = listedChoice(languages)

export const organisationProfileRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/organisation/profile',
    access: 'viewer',
    response: OrganisationProfile,
    handle: async ({ services, context }) =>
      presentProfile(await requireProfile(services, identityOf(context).organisationId)),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/organisation/profile',
    access: 'admin',
    body: { displayName: typed, contact: typed, language },
    bodyNamesNobody: true,
    response: OrganisationProfile,
    async handle({ services, context, body }) {
      const { organisationId } = identityOf(context)
      return presentProfile(await saveProfile(services, organisationId, body, originOf(context)))
    },
  }),
  defineRoute({
    method: 'GET',
    path: logoPath,
    access: 'viewer',
    query: { digest: optional(text({ maxLength: 64, 'x-rule': 'the digest of the logo' })) },
    response: null,
    async handle({ services, context, http: { respond } }) {
      const logo = await services.organisationProfiles.findLogo(identityOf(context).organisationId)
      if (logo === null) throw notFound('A logo')
      respond.write(context, 200, Buffer.from(logo.image, 'base64'), [
        ...safeHeaders(context, imagePolicy),
        ...['Cache-Control', 'no-store', 'Content-Type', logo.type],
        ...['Content-Disposition', `inline; filename="logo.${extensions[logo.type]}"`],
      ])
    },
  }),
  defineRoute({
    method: 'POST',
    path: logoPath,
    access: 'admin',
    body: {
      file: text({
        maxLength: maxEncodedLength,
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
        'x-rule': 'a file of at most 64 KiB in base64',
      }),
    },
    maxBodyBytes: maxEncodedLength + 1024,
    bodyNamesNobody: true,
    response: SavedLogo,
    async handle({ services, context, body }) {
      const file = Buffer.from(body.file, 'base64')
      const saved = await saveLogo(services, identityOf(context).organisationId, file, originOf(context))
      return { ...presentProfile(saved), removed: [...saved.removed] }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: logoPath,
    access: 'admin',
    response: OrganisationProfile,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      return presentProfile(await removeLogo(services, organisationId, originOf(context)))
    },
  }),
]

function presentProfile({ organisation, profile }: OrganisationWithProfile) {
  const { displayName, contact, language, logo } = profile
  const facts = logo && { width: logo.width, height: logo.height, digest: logo.digest }
  return { organisation: organisation.name, displayName, contact, language, logo: facts }
}
