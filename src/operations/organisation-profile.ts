import { commandLine, type Origin } from '../domain/activity.ts'
import { LetheError, Problems } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Language } from '../domain/language.ts'
import { checkName, type Organisation, type OrganisationStore } from '../domain/organisation.ts'
import {
  checkContact,
  type Logo,
  type OrganisationProfile,
  type OrganisationProfileStore,
  type ProfileDetails,
  tidyLines,
} from '../domain/organisation-profile.ts'
import type { Randomness } from '../domain/randomness.ts'
import { type ReadLogo, readLogo } from '../logo/read-logo.ts'
import { UnusableLogo } from '../logo/unusable-logo.ts'
import { activityNote } from './activity.ts'
import { maxNameLength, requireOrganisation } from './organisation.ts'

interface ProfileDeps {
  organisations: OrganisationStore
  organisationProfiles: OrganisationProfileStore
}

interface ChangeDeps extends ProfileDeps {
  clock: Clock
  randomness: Randomness
}

export interface OrganisationWithProfile {
  organisation: Organisation
  profile: OrganisationProfile
}

/** Throws `not_found` if there is no such organisation. */
export async function requireProfile(
  deps: ProfileDeps,
  organisationId: string,
): Promise<OrganisationWithProfile> {
  const organisation = await requireOrganisation(deps, organisationId)
  return { organisation, profile: await deps.organisationProfiles.find(organisationId) }
}

/** What people typed: an empty display name stands for the organisation's own. */
interface TypedProfile {
  displayName: string
  contact: string
  language: Language
}

/** Throws `validation_error` for invalid texts. Changes nothing if nothing is different. */
export async function saveProfile(
  deps: ChangeDeps,
  organisationId: string,
  typed: TypedProfile,
  origin: Origin = commandLine,
): Promise<OrganisationWithProfile> {
  const { organisation, profile } = await requireProfile(deps, organisationId)
  const details = toDetails(typed, organisation)
  const changed = changedFields(profile, details)
  if (changed.length === 0) return { organisation, profile }
  const note = profileNote(deps, organisationId, changed.join(', '), origin)
  await deps.organisationProfiles.save(organisationId, details, note)
  return requireProfile(deps, organisationId)
}

function toDetails({ displayName, contact, language }: TypedProfile, { name }: Organisation): ProfileDetails {
  const [typedName, typedContact] = [displayName.trim(), tidyLines(contact)]
  const problems = new Problems()
  const names = new Problems()
  if (typedName !== '') checkName(typedName, maxNameLength, names)
  for (const { message } of names.list()) problems.add('displayName', message)
  checkContact(typedContact, problems)
  problems.throwIfAny()
  return {
    displayName: typedName === '' || typedName === name ? null : typedName,
    contact: typedContact === '' ? null : typedContact,
    language,
  }
}

function changedFields(before: ProfileDetails, after: ProfileDetails): string[] {
  return [
    ...(before.displayName === after.displayName ? [] : ['display name']),
    ...(before.contact === after.contact ? [] : ['contact']),
    ...(before.language === after.language ? [] : ['language']),
  ]
}

/**
 * Replaces the logo by an SVG or a PNG file. Throws `validation_error` if the file cannot be used. Changes
 * nothing if it is the same image.
 */
export async function saveLogo(
  deps: ChangeDeps,
  organisationId: string,
  file: Buffer,
  origin: Origin = commandLine,
): Promise<OrganisationWithProfile & Pick<ReadLogo, 'removed'>> {
  const { profile } = await requireProfile(deps, organisationId)
  const { logo, removed } = await usable(file)
  if (profile.logo?.digest !== logo.digest) await storeLogo(deps, organisationId, logo, origin)
  return { ...(await requireProfile(deps, organisationId)), removed }
}

async function usable(file: Buffer): Promise<ReadLogo> {
  try {
    return await readLogo(file)
  } catch (error) {
    if (!(error instanceof UnusableLogo)) throw error
    throw new LetheError('validation_error', 'Check logo: see details.', [
      { field: 'logo', message: `the file ${error.message}` },
    ])
  }
}

/** Does nothing if there is no logo. */
export async function removeLogo(
  deps: ChangeDeps,
  organisationId: string,
  origin: Origin = commandLine,
): Promise<OrganisationWithProfile> {
  const { profile } = await requireProfile(deps, organisationId)
  if (profile.logo !== null) await storeLogo(deps, organisationId, null, origin)
  return requireProfile(deps, organisationId)
}

async function storeLogo(
  deps: ChangeDeps,
  organisationId: string,
  logo: Logo | null,
  origin: Origin,
): Promise<void> {
  const note = profileNote(deps, organisationId, logo ? 'logo' : 'logo removed', origin)
  await deps.organisationProfiles.saveLogo(organisationId, logo, note)
}

function profileNote(deps: ChangeDeps, organisationId: string, target: string, origin: Origin) {
  return activityNote(deps, origin, { organisationId, kind: 'organisation.profile-changed', target })
}

/** The logo as a URL for documents that must not load anything; `null` if there is none. */
export async function logoDataUrl(
  { organisationProfiles }: Pick<ProfileDeps, 'organisationProfiles'>,
  organisationId: string,
): Promise<string | null> {
  const logo = await organisationProfiles.findLogo(organisationId)
  return logo && `data:${logo.type};base64,${logo.image}`
}
