import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  appendLeaf,
  consistencyPath,
  type Frontier,
  formatFrontier,
  GrowingTree,
  hashesOfPath,
  hashLeaf,
  headAt,
  inclusionPath,
  lastLeafOf,
  parseFrontier,
  type Subtree,
} from '../../src/domain/merkle-tree.ts'
import { consistencyProof, inclusionProof, rootOf } from '../support/make-receipt.ts'

const largest = 20
const records = Array.from({ length: largest }, (_, number) => `entry ${number}`)
const leaves = records.map((record) => Buffer.from(record))

/** The tree of all records as it grows, with each frontier as it is stored. */
const frontiers: Frontier[] = []
for (const record of records) {
  const frontier = appendLeaf(frontiers.at(-1) ?? null, hashLeaf(record))
  frontiers.push(parseFrontier(frontier.size, formatFrontier(frontier)))
}

/** Reads hashes like a store: from the last leaf of a subtree, in a tree of this size. */
function read(size: number, path: readonly (readonly Subtree[])[]): Buffer[] {
  const found = path.flat().map((subtree) => {
    const last = lastLeafOf(subtree)
    assert.ok(last < size, 'a subtree lies within the tree')
    return frontiers[last]?.completed[subtree.level] ?? assert.fail('a subtree stands with its last leaf')
  })
  return hashesOfPath(path, found)
}

describe('a growing Merkle tree', () => {
  it('has the root defined by RFC 6962', () => {
    assert.deepEqual(headAt(null), { size: 0, rootHash: rootOf([]) })
    for (const [index, frontier] of frontiers.entries()) {
      const there = leaves.slice(0, index + 1)
      assert.deepEqual(headAt(frontier), { size: index + 1, rootHash: rootOf(there) })
    }
  })

  it('proves every leaf that was appended, from any initial size', () => {
    const text = (hashes: readonly Uint8Array[]) => hashes.map((hash) => Buffer.from(hash).toString('base64'))
    const paths = frontiers.map(({ size }) =>
      frontiers.slice(0, size).map((_, index) => text(inclusionProof(index, leaves.slice(0, size))).join()),
    )
    for (let from = 0; from < largest; from++) {
      const tree = new GrowingTree(frontiers[from - 1] ?? null)
      for (const { size } of frontiers.slice(from)) {
        const last = tree.append(hashLeaf(records[size - 1] ?? ''))
        assert.equal(formatFrontier(last), formatFrontier(frontiers[size - 1] ?? last))
        assert.equal(tree.size, size)
        for (let index = from; index < size; index++) {
          const { path, ...proof } = tree.prove(index)
          assert.equal(path.join(), paths[size - 1]?.[index])
          assert.equal(proof.index, index)
        }
        assert.deepEqual(tree.prove(from).head, headAt(frontiers[size - 1] ?? null))
      }
    }
  })

  it('cannot prove leaves that existed before', () => {
    const tree = new GrowingTree(frontiers[4] ?? null)
    tree.append(hashLeaf('entry 5'))
    assert.throws(() => tree.prove(0), /appended to this tree/)
  })

  it('proves every leaf for every size', () => {
    for (let size = 1; size <= largest; size++) {
      const there = leaves.slice(0, size)
      for (let index = 0; index < size; index++) {
        assert.deepEqual(read(size, inclusionPath(index, size)), inclusionProof(index, there))
      }
    }
  })

  it('proves consistency with every smaller tree', () => {
    for (let to = 0; to <= largest; to++) {
      const there = leaves.slice(0, to)
      for (let from = 0; from <= to; from++) {
        assert.deepEqual(read(to, consistencyPath(from, to)), consistencyProof(from, there))
      }
    }
  })

  it('needs few hashes for a proof, however large it is', () => {
    const size = 2 ** 30 - 1
    for (const index of [0, 1, 2 ** 29, size - 1]) {
      assert.ok(inclusionPath(index, size).flat().length < 2 * 30 + 30)
      assert.ok(consistencyPath(index + 1, size).flat().length < 2 * 30 + 30)
    }
  })
})
