import { releaseNotes } from './release-notes.ts'

export interface ReleaseFacts {
  /** The version asked for; `undefined` where none was named. */
  version: string | undefined
  /** The one in package.json. */
  told: string
  /** The text of CHANGELOG.md. */
  changes: string
  /** What git says is not as in the last commit. */
  uncommitted: string
}

/** Why there can be no release, in words for whoever asked for it; `null` where there can. */
export function releaseRefusal({ version, told, changes, uncommitted }: ReleaseFacts): string | null {
  if (version === undefined) return `Name the version: npm run release -- ${told}`
  if (version !== told)
    return `package.json tells version ${told}, not ${version}. Set it with npm version ${version} --no-git-tag-version, and commit that.`
  if (releaseNotes(changes, version) === undefined)
    return `CHANGELOG.md says nothing of ${version}: it needs a section "## ${version}".`
  if (uncommitted !== '')
    return `A release is made of what is committed. These are not as in the last commit:\n${uncommitted}`
  return null
}
