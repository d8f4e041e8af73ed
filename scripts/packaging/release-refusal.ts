import { releaseNotes } from './release-notes.ts'

interface ReleaseFacts {
  /** The requested version; `undefined` if none was given. */
  version: string | undefined
  /** The version in package.json. */
  told: string
  /** The text of CHANGELOG.md. */
  changes: string
  /** The uncommitted changes that git reports. */
  uncommitted: string
}

/** The reason why there can be no release, as a message for the user; `null` if there can. */
export function releaseRefusal({ version, told, changes, uncommitted }: ReleaseFacts): string | null {
  if (version === undefined) return `Name the version: npm run release -- ${told}`
  if (version !== told)
    return `The version in package.json is ${told}, not ${version}. Set it with npm version ${version} --no-git-tag-version, and commit that.`
  if (releaseNotes(changes, version) === undefined)
    return `CHANGELOG.md has no section for ${version}. Add one with the heading "## ${version}".`
  if (uncommitted !== '') return `Commit or discard these changes first:\n${uncommitted}`
  return null
}
