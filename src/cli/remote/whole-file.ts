import { existsSync } from 'node:fs'
import { type FileHandle, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Text in pieces. */
type Text = AsyncIterable<string> | Iterable<string>

/** Writes text to a file that is not there before it is whole, for its owner alone. How many bytes it has. */
export async function writeWhole(file: string, text: Text): Promise<number> {
  if (existsSync(file)) throw new Error(`${file} exists already; name a file that does not.`)
  const partial = `${file}.partial`
  await rm(partial, { force: true })
  try {
    const bytes = await withFile(partial, 'wx', (handle) => fill(handle, text))
    await rename(partial, file)
    await withFile(dirname(file), 'r', (folder) => folder.sync()).catch(() => {
      // Windows opens no folders, and makes names durable by itself.
    })
    return bytes
  } finally {
    await rm(partial, { force: true })
  }
}

/** Gathers text in a private file first, and hands it on only when it is whole. */
export async function whenWhole(
  text: AsyncIterable<string>,
  use: (whole: AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lethe-'))
  try {
    await withFile(join(folder, 'whole'), 'wx+', async (handle) => {
      await fill(handle, text)
      await use(handle.createReadStream({ start: 0, encoding: 'utf8', autoClose: false }))
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fill(handle: FileHandle, text: Text): Promise<number> {
  for await (const piece of text) await handle.appendFile(piece)
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
