import type { ActivityNote } from '../../domain/activity.ts'
import { type Language, languages } from '../../domain/language.ts'
import {
  type Logo,
  type LogoFacts,
  logoTypes,
  newProfile,
  type OrganisationProfile,
  type OrganisationProfileStore,
  type ProfileDetails,
} from '../../domain/organisation-profile.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { integer, known, type Row, text, textOrNull } from './row.ts'
import { statement } from './statement.ts'

const find = statement(
  'SELECT display_name, contact, language FROM organisation_profiles WHERE organisation_id = :organisationId',
)
const findLogoFacts = statement(
  'SELECT type, width, height, digest FROM organisation_logos WHERE organisation_id = :organisationId',
)
const findLogo = statement(
  'SELECT type, width, height, digest, image FROM organisation_logos WHERE organisation_id = :organisationId',
)
const save = statement(
  `INSERT INTO organisation_profiles (organisation_id, display_name, contact, language)
   VALUES (:organisationId, :displayName, :contact, :language)
   ON CONFLICT (organisation_id) DO UPDATE SET display_name = excluded.display_name,
     contact = excluded.contact, language = excluded.language`,
)
const saveLogo = statement(
  `INSERT INTO organisation_logos (organisation_id, type, width, height, digest, image)
   VALUES (:organisationId, :type, :width, :height, :digest, :image)
   ON CONFLICT (organisation_id) DO UPDATE SET type = excluded.type, width = excluded.width,
     height = excluded.height, digest = excluded.digest, image = excluded.image`,
)
const removeLogo = statement('DELETE FROM organisation_logos WHERE organisation_id = :organisationId')

export const organisationProfileTransactions = {
  async saveProfile(
    run: Run,
    organisationId: string,
    details: ProfileDetails,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    run(save, { ...details, organisationId })
    insertActivity(run, note)
    return true
  },
  async saveLogo(run: Run, organisationId: string, logo: Logo | null, note: ActivityNote): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    if (logo) run(saveLogo, { ...logo, organisationId })
    else run(removeLogo, { organisationId })
    insertActivity(run, note)
    return true
  },
}

export function organisationProfileStore(
  engine: Engine<typeof organisationProfileTransactions>,
): OrganisationProfileStore {
  return {
    async find(organisationId): Promise<OrganisationProfile> {
      const [profile] = await engine.read(find, { organisationId })
      const [logo] = await engine.read(findLogoFacts, { organisationId })
      return { ...(profile ? toDetails(profile) : newProfile), logo: logo ? toLogoFacts(logo) : null }
    },
    async findLogo(organisationId) {
      const [row] = await engine.read(findLogo, { organisationId })
      return row ? { ...toLogoFacts(row), image: text(row, 'image') } : null
    },
    save: (organisationId, details, note) => engine.transact('saveProfile', organisationId, details, note),
    saveLogo: (organisationId, logo, note) => engine.transact('saveLogo', organisationId, logo, note),
  }
}

function toDetails(row: Row): ProfileDetails {
  return {
    displayName: textOrNull(row, 'display_name'),
    contact: textOrNull(row, 'contact'),
    language: toLanguage(row),
  }
}

function toLogoFacts(row: Row): LogoFacts {
  return {
    type: known(logoTypes, row.type, 'a logo of a type'),
    width: integer(row, 'width'),
    height: integer(row, 'height'),
    digest: text(row, 'digest'),
  }
}

export function toLanguage(row: Row): Language {
  return known(languages, row.language, 'a language')
}
