import type { ActivityNote } from './activity.ts'
import type { Problems } from './errors.ts'
import { countCharacters } from './identifier.ts'
import type { Language } from './language.ts'

/** What members can set without a file. */
export interface ProfileDetails {
  /** The name on documents; `null` if it is the organisation's own. */
  displayName: string | null
  /** Whom people may ask, in lines; `null` if that is not stated. */
  contact: string | null
  /** The language of documents, and the one in which replies are offered first. */
  language: Language
}

export const logoTypes = ['image/svg+xml', 'image/png'] as const
type LogoType = (typeof logoTypes)[number]

export interface LogoFacts {
  type: LogoType
  /** In pixels. An SVG has its own size, at most `maxLogoPixels`. */
  width: number
  height: number
  /** Identifies the image. */
  digest: string
}

/** A logo that is safe to show: `readLogo` has rewritten the file. */
export interface Logo extends LogoFacts {
  /** In base64. */
  image: string
}

/** How an organisation appears on certificates, exports and replies. */
export interface OrganisationProfile extends ProfileDetails {
  logo: LogoFacts | null
}

export interface OrganisationProfileStore {
  /** The profile of a new organisation if none was saved. */
  find(organisationId: string): Promise<OrganisationProfile>
  /** `null` if there is none. */
  findLogo(organisationId: string): Promise<Logo | null>
  /** Returns `false` if there is no such organisation. */
  save(organisationId: string, details: ProfileDetails, note: ActivityNote): Promise<boolean>
  /** Replaces the logo, or removes it. Returns `false` if there is no such organisation. */
  saveLogo(organisationId: string, logo: Logo | null, note: ActivityNote): Promise<boolean>
}

export const newProfile: ProfileDetails = { displayName: null, contact: null, language: 'en' }

export const maxContactLength = 500
export const maxContactLines = 8
export const maxLogoBytes = 64 * 1024
/** The maximum width and height of a logo. */
export const maxLogoPixels = 2_000

/** Unifies line ends, and removes spaces at the ends of lines and empty lines around the text. */
export function tidyLines(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\S\n]+$/gm, '')
    .replaceAll(/^\n+|\n+$/g, '')
}

/** Whether a text has only characters that can be printed, and tabs and line ends. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(text)
}

export function checkContact(contact: string, problems: Problems): void {
  const isShort =
    countCharacters(contact) <= maxContactLength && contact.split('\n').length <= maxContactLines
  if (isShort && isPrintable(contact)) return
  problems.add(
    'contact',
    `contact must be at most ${maxContactLength} characters in ${maxContactLines} lines, no control characters`,
  )
}

/** The name on documents. */
export function documentName({ displayName }: ProfileDetails, { name }: { name: string }): string {
  return displayName ?? name
}
