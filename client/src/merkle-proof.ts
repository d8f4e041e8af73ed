import type { Bytes } from './base64.ts'
import { sha256 } from './web-crypto.ts'

/** The number of leaves and the root of a tree, hashed as in RFC 6962. */
export interface HashedTree {
  size: number
  root: Bytes
}

export function hashLeaf(record: Uint8Array): Promise<Bytes> {
  return sha256(Uint8Array.of(0), record)
}

function hashNode(left: Uint8Array, right: Uint8Array): Promise<Bytes> {
  return sha256(Uint8Array.of(1), left, right)
}

/** Whether a proof leads from a leaf to the root of a tree: RFC 9162, section 2.1.3.2. */
export async function isIncluded(
  index: number,
  leafHash: Bytes,
  proof: readonly Bytes[],
  tree: HashedTree,
): Promise<boolean> {
  const path = await combine(index, leafHash, proof, tree.size)
  return path !== null && isSame(path.at(-1)?.combined ?? leafHash, tree.root)
}

/** A hash of a proof, combined with the hash of everything below. */
interface CombinedHashes {
  sibling: Bytes
  isSiblingLeft: boolean
  combined: Bytes
}

/** The hashes from a leaf to the root, lowest first; `null` if the proof does not fit the tree's size. */
export async function combine(
  index: number,
  leafHash: Bytes,
  proof: readonly Bytes[],
  size: number,
): Promise<CombinedHashes[] | null> {
  if (index >= size) return null
  const path: CombinedHashes[] = []
  let position = index
  let last = size - 1
  let hash = leafHash
  for (const sibling of proof) {
    if (last === 0) return null
    const isSiblingLeft = isOdd(position) || position === last
    hash = isSiblingLeft ? await hashNode(sibling, hash) : await hashNode(hash, sibling)
    path.push({ sibling, isSiblingLeft, combined: hash })
    while (isSiblingLeft && !isOdd(position) && position !== 0) {
      position = half(position)
      last = half(last)
    }
    position = half(position)
    last = half(last)
  }
  return last === 0 ? path : null
}

/** Whether a proof shows that a tree is the beginning of another: RFC 9162, section 2.1.4.2. */
export async function isConsistent(
  from: HashedTree,
  to: HashedTree,
  proof: readonly Bytes[],
): Promise<boolean> {
  if (from.size === to.size) return proof.length === 0 && isSame(from.root, to.root)
  // Every tree begins with the empty tree, whose root is the hash of an empty string.
  if (from.size === 0) return proof.length === 0 && isSame(from.root, await sha256())
  if (from.size > to.size) return false

  const [first, ...rest] = isPowerOfTwo(from.size) ? [from.root, ...proof] : proof
  if (first === undefined) return false
  let position = from.size - 1
  let last = to.size - 1
  while (isOdd(position)) {
    position = half(position)
    last = half(last)
  }
  let older = first
  let newer = first
  for (const sibling of rest) {
    if (last === 0) return false
    if (isOdd(position) || position === last) {
      older = await hashNode(sibling, older)
      newer = await hashNode(sibling, newer)
      while (!isOdd(position) && position !== 0) {
        position = half(position)
        last = half(last)
      }
    } else {
      newer = await hashNode(newer, sibling)
    }
    position = half(position)
    last = half(last)
  }
  return last === 0 && isSame(older, from.root) && isSame(newer, to.root)
}

// Sizes can exceed 32 bits, which bitwise operators do not support.
function isOdd(value: number): boolean {
  return value % 2 === 1
}

function half(value: number): number {
  return Math.floor(value / 2)
}

function isPowerOfTwo(value: number): boolean {
  let rest = value
  while (rest > 1 && !isOdd(rest)) rest = half(rest)
  return rest === 1
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i])
}
