import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** What a transaction of some size needs. */
const leastBytes = 2 ** 20

/** Rejects when the disk of a store is as good as full. */
export async function requireRoom(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  const left = bavail * bsize
  if (left < leastBytes) throw new Error(`The disk of the store is full: ${left} bytes are left.`)
}
