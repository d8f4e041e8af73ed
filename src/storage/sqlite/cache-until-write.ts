import type { DatabaseSync } from 'node:sqlite'

/** Gives a look-up by a text a memory. */
export type Cache = <Found>(find: (id: string) => Found) => (id: string) => Found

const maxEntries = 10_000

/**
 * Remembers what look-ups found for as long as nobody, in whatever process, has written to the store. SQLite tells that by a number
 * which costs a fraction of a look-up; so a memory never outlives a change. Only for connections that do not write themselves.
 */
export function cacheUntilWrite(db: DatabaseSync): Cache {
  const version = db.prepare('PRAGMA data_version')
  return (find) => {
    const memory = new Map<string, ReturnType<typeof find>>()
    let writtenAt: unknown
    return (id) => {
      const current = version.get()?.data_version
      if (current !== writtenAt || memory.size >= maxEntries) memory.clear()
      writtenAt = current
      const known = memory.get(id)
      if (known !== undefined) return known
      const found = find(id)
      memory.set(id, found)
      return found
    }
  }
}
