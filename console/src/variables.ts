export type Variables = Readonly<Record<string, unknown>>

export interface VariableChange {
  kind: 'added' | 'changed' | 'removed'
  name: string
  before: unknown
  after: unknown
}

/** The differences between two sets of variables, in the order of names. */
export function compareVariables(before: Variables, after: Variables): VariableChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => {
    const [was, is] = [before[name], after[name]]
    if (canonical(was) === canonical(is)) return []
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
    return [{ kind, name, before: was, after: is }]
  })
}

/** A value as text, independent of the order of its members. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}

/** Longer documents get no whitespace, so that they can be saved. */
const maxIndentedLength = 1024 * 1024

/** Variables as the text of the editor. */
export function formatVariables(variables: Variables): string {
  const text = JSON.stringify(variables, null, 2)
  return text.length > maxIndentedLength ? JSON.stringify(variables) : text
}
