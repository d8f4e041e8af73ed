import { open, readFile, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { JournalError } from './errors.ts'
import { type Journal, journalStart } from './journal.ts'

/** A checkpoint file for runtimes with `node:fs`. Only its owner can read it. */
export function fileJournal(path: string): Journal {
  /** The start of a line that a crash left incomplete; `null` if there is none. */
  let tornAt: number | null = null
  let isNew = false
  return {
    async read() {
      const bytes = await readFile(path).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return null
        throw error
      })
      isNew = bytes === null
      if (bytes === null) return []
      const start = bytes.toString('latin1', 0, journalStart.length)
      if (!journalStart.startsWith(start)) throw new JournalError(`${path} is not a checkpoint file.`)
      const end = bytes.lastIndexOf('\n') + 1
      tornAt = end < bytes.length ? end : null
      return bytes.toString('utf8', 0, end).split('\n').slice(0, -1)
    },
    async append(line) {
      if (tornAt !== null) await truncate(path, tornAt)
      tornAt = null
      const file = await open(path, 'a', 0o600)
      try {
        await file.writeFile(`${line}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      if (isNew) await syncFolder(dirname(path))
      isNew = false
    },
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Makes the name of a new file durable. Windows cannot open folders, and does this by itself. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null)
  if (folder === null) return
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
