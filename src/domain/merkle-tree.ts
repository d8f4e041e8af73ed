import { hash } from 'node:crypto'

// The Merkle tree of RFC 6962, section 2.

/** The `number`th, from 0, of the complete subtrees with 2^`level` leaves. */
export interface Subtree {
  level: number
  number: number
}

export function hashLeaf(record: string): Buffer {
  return hash('sha256', Buffer.concat([leafPrefix, Buffer.from(record)]), 'buffer')
}

function hashNode(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([nodePrefix, left, right]), 'buffer')
}

const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

const emptyRoot = hash('sha256', '', 'buffer')

/** The complete subtrees of the leaves from `start` to before `end`. */
function subtreesOf(start: number, end: number): Subtree[] {
  const subtrees: Subtree[] = []
  for (let at = start; at < end; ) {
    let span = 1
    let level = 0
    while (span * 2 <= end - at && at % (span * 2) === 0) {
      span *= 2
      level += 1
    }
    subtrees.push({ level, number: at / span })
    at += span
  }
  return subtrees
}

/** Combines adjacent complete subtrees, the largest on the left. */
function join(hashes: readonly Buffer[]): Buffer {
  return hashes.reduceRight((right, left) => hashNode(left, right))
}

/** The subtrees whose hashes lead from a leaf to the root, from the bottom (RFC 9162, section 2.1.3). */
export function inclusionPath(index: number, size: number): Subtree[][] {
  return pathWithin(index, 0, size)
}

function pathWithin(index: number, start: number, end: number): Subtree[][] {
  if (end - start <= 1) return []
  const middle = start + splitOf(end - start)
  return index < middle
    ? [...pathWithin(index, start, middle), subtreesOf(middle, end)]
    : [...pathWithin(index, middle, end), subtreesOf(start, middle)]
}

/** The subtrees that prove that a tree of `to` leaves starts with one of `from` (RFC 9162, section 2.1.4). */
export function consistencyPath(from: number, to: number): Subtree[][] {
  return from === 0 ? [] : commonWithin(from, 0, to, true)
}

function commonWithin(from: number, start: number, end: number, isKnown: boolean): Subtree[][] {
  const size = end - start
  if (from === size) return isKnown ? [] : [subtreesOf(start, end)]
  const split = splitOf(size)
  const middle = start + split
  return from <= split
    ? [...commonWithin(from, start, middle, isKnown), subtreesOf(middle, end)]
    : [...commonWithin(from - split, middle, end, false), subtreesOf(start, middle)]
}

/** The largest power of two below `size`. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** Combines the hashes of subtrees into those of the path. */
export function hashesOfPath(path: readonly (readonly Subtree[])[], found: readonly Buffer[]): Buffer[] {
  let next = 0
  return path.map((subtrees) => {
    next += subtrees.length
    return join(found.slice(next - subtrees.length, next))
  })
}

/**
 * What is stored with a leaf: the subtrees that it completes, the leaf first, and the peaks to their left. A
 * tree can grow from its last frontier, and every complete subtree is stored with its last leaf.
 */
export interface Frontier {
  /** The number of leaves up to this one. */
  size: number
  completed: readonly Buffer[]
  /** The largest first. */
  before: readonly Buffer[]
}

/** Appends a leaf to the tree that ends with `last`; `null` for an empty tree. */
export function appendLeaf(last: Frontier | null, leaf: Buffer): Frontier {
  const completed = [leaf]
  const before = last ? [...peaksAt(last)] : []
  const size = (last?.size ?? 0) + 1
  let top = leaf
  for (let span = size; span % 2 === 0; span /= 2) {
    const left = before.pop()
    if (!left) throw new Error('The frontier of the tree lacks a peak.')
    top = hashNode(left, top)
    completed.push(top)
  }
  return { size, completed, before }
}

/** The peaks of a tree, the largest first. */
function peaksAt({ completed, before }: Frontier): Buffer[] {
  return [...before, ...completed.slice(-1)]
}

export interface TreeHead {
  size: number
  rootHash: Uint8Array
}

export interface InclusionProof {
  index: number
  /** In base64, the lowest first. */
  path: readonly string[]
  head: TreeHead
}

export function headAt(last: Frontier | null): TreeHead {
  return { size: last?.size ?? 0, rootHash: last ? join(peaksAt(last)) : emptyRoot }
}

/** A growing tree that can prove the inclusion of the leaves appended to it. */
export class GrowingTree {
  readonly #from: number
  readonly #peaks: readonly Buffer[]
  readonly #appended: Frontier[] = []
  #last: Frontier | null
  #head: TreeHead | null = null

  /** `null` for an empty tree. */
  constructor(last: Frontier | null) {
    this.#last = last
    this.#from = last?.size ?? 0
    this.#peaks = last ? peaksAt(last) : []
  }

  get size(): number {
    return this.#last?.size ?? 0
  }

  get head(): TreeHead {
    this.#head ??= headAt(this.#last)
    return this.#head
  }

  append(leaf: Buffer): Frontier {
    const frontier = appendLeaf(this.#last, leaf)
    this.#appended.push(frontier)
    this.#last = frontier
    this.#head = null
    return frontier
  }

  prove(index: number): InclusionProof {
    if (index < this.#from) throw new Error('Only leaves appended to this tree can be proven.')
    const { head } = this
    const path = inclusionPath(index, head.size)
    const hashes = path.map((subtrees) => join(subtrees.map((subtree) => this.#hashOf(subtree))))
    return { index, path: hashes.map((hash) => hash.toString('base64')), head }
  }

  /** The path of a new leaf consists of subtrees completed by new leaves and of peaks of the old tree. */
  #hashOf(subtree: Subtree): Buffer {
    const last = lastLeafOf(subtree)
    const hash =
      last < this.#from
        ? this.#peaks[onesAbove(this.#from, subtree.level)]
        : this.#appended[last - this.#from]?.completed[subtree.level]
    if (!hash) throw new Error('The frontier of the tree lacks a hash.')
    return hash
  }
}

/** The number of bits set above `level`: the number of peaks larger than the one at that level. */
function onesAbove(size: number, level: number): number {
  let ones = 0
  for (let rest = Math.floor(size / 2 ** (level + 1)); rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones
}

const hashBytes = 32

export function formatFrontier({ completed, before }: Frontier): string {
  return Buffer.concat([...completed, ...before]).toString('base64')
}

export function parseFrontier(size: number, text: string): Frontier {
  const bytes = Buffer.from(text, 'base64')
  const hashes: Buffer[] = []
  for (let at = 0; at < bytes.length; at += hashBytes) hashes.push(bytes.subarray(at, at + hashBytes))
  const completed = hashes.splice(0, trailingZeros(size) + 1)
  return { size, completed, before: hashes }
}

/** The leaf that a subtree is stored with, from 0. */
export function lastLeafOf({ level, number }: Subtree): number {
  return (number + 1) * 2 ** level - 1
}

function trailingZeros(size: number): number {
  let zeros = 0
  for (let rest = size; rest > 0 && rest % 2 === 0; rest /= 2) zeros += 1
  return zeros
}
