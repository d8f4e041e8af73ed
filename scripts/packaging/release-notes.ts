/** The section of a version in the changelog, without its heading; `undefined` if there is none. */
export function releaseNotes(changes: string, version: string): string | undefined {
  const [, ...sections] = changes.split(/^## /m)
  const own = sections.find((section) => section.split(/[\s,]/, 1)[0] === version)
  if (own === undefined) return undefined
  const text = own.slice(own.indexOf('\n')).trim()
  return text === '' ? undefined : `${text}\n`
}
