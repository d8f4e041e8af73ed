import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  appendLeaf,
  consistencyPath,
  type Edge,
  formatEdge,
  hashesOfPath,
  hashLeaf,
  headAt,
  inclusionPath,
  lastLeafOf,
  parseEdge,
  proveLast,
  type Subtree,
} from '../../src/domain/merkle-tree.ts'
import { consistencyProof, inclusionProof, rootOf } from '../support/make-receipt.ts'

const largest = 70
const records = Array.from({ length: largest }, (_, number) => `entry ${number}`)
const leaves = records.map((record) => Buffer.from(record))

/** The tree of all records as it grows, each edge as it would be stored. */
const edges: Edge[] = []
for (const record of records) {
  const edge = appendLeaf(edges.at(-1) ?? null, hashLeaf(record))
  edges.push(parseEdge(edge.size, formatEdge(edge)))
}

/** Reads hashes as a store does: from the leaf with which a subtree ends, in a tree of so many leaves. */
function read(size: number, path: readonly (readonly Subtree[])[]): Buffer[] {
  const found = path.flat().map((subtree) => {
    const last = lastLeafOf(subtree)
    assert.ok(last < size, 'a subtree lies within the tree')
    return edges[last]?.completed[subtree.level] ?? assert.fail('a subtree stands with its last leaf')
  })
  return hashesOfPath(path, found)
}

describe('a tree that grows leaf by leaf', () => {
  it('has the root that the definition gives it, and proves its last leaf', () => {
    assert.deepEqual(headAt(null), { size: 0, rootHash: rootOf([]) })
    for (const [index, edge] of edges.entries()) {
      const there = leaves.slice(0, index + 1)
      const head = { size: index + 1, rootHash: rootOf(there) }
      assert.deepEqual(headAt(edge), head)
      const proof = proveLast(edges[index - 1] ?? null, edge)
      assert.deepEqual(proof, { index, path: inclusionProof(index, there), head })
    }
  })

  it('proves every leaf of every size', () => {
    for (let size = 1; size <= largest; size++) {
      const there = leaves.slice(0, size)
      for (let index = 0; index < size; index++) {
        assert.deepEqual(read(size, inclusionPath(index, size)), inclusionProof(index, there))
      }
    }
  })

  it('proves that it begins with every smaller one', () => {
    for (let to = 0; to <= largest; to++) {
      const there = leaves.slice(0, to)
      for (let from = 0; from <= to; from++) {
        assert.deepEqual(read(to, consistencyPath(from, to)), consistencyProof(from, there))
      }
    }
  })

  it('reads few hashes for a proof, however large it is', () => {
    const size = 2 ** 30 - 1
    for (const index of [0, 1, 2 ** 29, size - 1]) {
      assert.ok(inclusionPath(index, size).flat().length < 2 * 30 + 30)
      assert.ok(consistencyPath(index + 1, size).flat().length < 2 * 30 + 30)
    }
  })
})
