/** The names of the variables that a refresh has changed. */
export interface VariablesChange {
  version: number
  added: string[]
  changed: string[]
  removed: string[]
}

/** What differs between two sets of variables; `null` if nothing does. */
export function compareVariables(before: object, after: object): Omit<VariablesChange, 'version'> | null {
  const texts = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]))
  const entries = Object.entries(after)
  const namesOf = (filtered: [name: string, value: unknown][]) => filtered.map(([name]) => name)
  const added = namesOf(entries.filter(([name]) => !texts.has(name)))
  const changed = namesOf(
    entries.filter(([name, value]) => texts.has(name) && texts.get(name) !== JSON.stringify(value)),
  )
  const removed = [...texts.keys()].filter((name) => !Object.hasOwn(after, name))
  return added.length + changed.length + removed.length === 0 ? null : { added, changed, removed }
}
