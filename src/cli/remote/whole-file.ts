import { existsSync } from 'node:fs'
import { type FileHandle, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

type Content = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

/**
 * Writes a file that only its owner can read and that exists only when complete. Returns its size in bytes.
 */
export async function writeWhole(file: string, content: Content): Promise<number> {
  if (existsSync(file)) throw new Error(`${file} already exists. Choose another file.`)
  return replaceWhole(file, content)
}

/** Replaces a file by one that only its owner can read: after a crash, it is the old one or the new one. */
export async function replaceWhole(file: string, content: Content): Promise<number> {
  const partial = `${file}.partial`
  await rm(partial, { force: true })
  try {
    const bytes = await withFile(partial, 'wx', (handle) => fill(handle, content))
    await rename(partial, file)
    await withFile(dirname(file), 'r', (folder) => folder.sync()).catch(() => {
      // Windows cannot open folders, and makes names durable by itself.
    })
    return bytes
  } finally {
    await rm(partial, { force: true })
  }
}

/** Appends to a file that only its owner can read, durably. */
export async function appendWhole(file: string, content: Content): Promise<void> {
  await withFile(file, 'a', (handle) => fill(handle, content))
}

/** For `catch`: a missing file is `null`. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}

/** Collects text in a private file and passes it on only when it is complete. */
export async function whenWhole(
  text: AsyncIterable<string>,
  use: (whole: AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lethe-'))
  try {
    await withFile(join(folder, 'whole'), 'wx+', async (handle) => {
      // Nothing remains if the process is killed, or its reader, such as `head`, ends. Windows may refuse.
      await rm(folder, { recursive: true, force: true }).catch(() => {})
      await fill(handle, text)
      await use(handle.createReadStream({ start: 0, encoding: 'utf8', autoClose: false }))
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fill(handle: FileHandle, content: Content): Promise<number> {
  for await (const piece of content) await handle.appendFile(piece)
  await handle.sync()
  return (await handle.stat()).size
}

async function withFile<Result>(
  path: string,
  flags: string,
  work: (handle: FileHandle) => Promise<Result>,
): Promise<Result> {
  const handle = await open(path, flags, 0o600)
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}
