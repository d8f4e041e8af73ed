import { type BigIntStats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, ConfigError } from '../config.ts'
import { secretPath } from './secret-file.ts'

/** Whether two paths are those of one file, which need not exist. */
export function isSameFile(a: string, b: string): boolean {
  if (resolve(a) === resolve(b)) return true
  const [one, other] = [statsOf(a), statsOf(b)]
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // In a folder that this user cannot read, for example.
    return undefined
  }
}

/** Lines appended to the store or to the secret would destroy it. */
export function requireOwnJournal(config: Pick<Config, 'store' | 'secretFile'> & { journal: string }): void {
  const { store, journal } = config
  const isStore = store.engine === 'sqlite' && isSameFile(journal, store.path)
  if (!isStore && !isSameFile(journal, secretPath(config))) return
  throw new ConfigError(
    `LETHE_JOURNAL is the file of the ${isStore ? 'store' : 'secret'}; it needs a file of its own.`,
  )
}
