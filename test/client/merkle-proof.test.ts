import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type HashedTree, hashLeaf, isConsistent, isIncluded } from '../../client/src/merkle-proof.ts'
import { consistencyProof, inclusionProof, rootOf } from '../support/make-receipt.ts'

// The tree of eight leaves that the reference implementation of Certificate Transparency (RFC 6962) is tested
// with.
const leaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map(bytes)
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
].map(bytes)
const published = {
  inclusion: [
    { index: 0, size: 1, proof: [] },
    {
      index: 0,
      size: 8,
      proof: [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    },
    {
      index: 5,
      size: 8,
      proof: [
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    },
    { index: 2, size: 3, proof: ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'] },
    {
      index: 1,
      size: 5,
      proof: [
        '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    },
  ],
  consistency: [
    { from: 1, to: 1, proof: [] },
    {
      from: 1,
      to: 8,
      proof: [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    },
    {
      from: 6,
      to: 8,
      proof: [
        '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    },
    {
      from: 2,
      to: 5,
      proof: [
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    },
  ],
}

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

function treeOf(size: number): HashedTree {
  return { size, root: roots[size] ?? assert.fail() }
}

function leafHash(index: number) {
  return hashLeaf(leaves[index] ?? assert.fail())
}

/** Invalid variants of a proof. */
function* spoiled(proof: Uint8Array<ArrayBuffer>[]): Generator<Uint8Array<ArrayBuffer>[]> {
  const other = bytes('ab'.repeat(32))
  yield [...proof, other]
  yield [other, ...proof]
  for (const [i, hash] of proof.entries()) {
    yield proof.toSpliced(i, 1)
    yield proof.with(i, other)
    yield proof.with(i, hash.slice(0, 31))
    if (i > 0) yield proof.with(i, proof[i - 1] ?? other).with(i - 1, hash)
  }
}

describe('the published tree of RFC 6962', () => {
  it('matches the generator of the tests, with its proofs', () => {
    for (const [size, root] of roots.entries()) {
      assert.deepEqual(rootOf(leaves.slice(0, size)), Buffer.from(root))
    }
    for (const { index, size, proof } of published.inclusion) {
      assert.deepEqual(inclusionProof(index, leaves.slice(0, size)).map(hex), proof)
    }
    for (const { from, to, proof } of published.consistency) {
      assert.deepEqual(consistencyProof(from, leaves.slice(0, to)).map(hex), proof)
    }
  })

  for (const { index, size, proof } of published.inclusion) {
    it(`has leaf ${index} of ${size} at its own index only`, async () => {
      const hashes = proof.map(bytes)
      const hash = await leafHash(index)
      assert.ok(await isIncluded(index, hash, hashes, treeOf(size)))
      for (const other of leaves.keys()) {
        assert.equal(await isIncluded(other, hash, hashes, treeOf(size)), other === index)
        if (other !== index)
          assert.ok(!(await isIncluded(index, await leafHash(other), hashes, treeOf(size))))
      }
      assert.ok(!(await isIncluded(index, hash, hashes, { ...treeOf(size), root: bytes('00'.repeat(32)) })))
      for (const wrong of spoiled(hashes)) assert.ok(!(await isIncluded(index, hash, wrong, treeOf(size))))
    })
  }

  for (const { from, to, proof } of published.consistency) {
    it(`of size ${to} is consistent with that of size ${from} only`, async () => {
      const hashes = proof.map(bytes)
      assert.ok(await isConsistent(treeOf(from), treeOf(to), hashes))
      for (const other of roots.keys()) {
        // An empty tree is consistent with every tree, with an empty proof.
        const isGood = other === from || (other === 0 && proof.length === 0)
        assert.equal(await isConsistent(treeOf(other), treeOf(to), hashes), isGood, `${other} to ${to}`)
        if (other !== to) assert.ok(!(await isConsistent(treeOf(from), treeOf(other), hashes)))
      }
      for (const wrong of spoiled(hashes)) {
        assert.ok(!(await isConsistent(treeOf(from), treeOf(to), wrong)))
      }
    })
  }

  it('proves nothing about an empty tree except consistency', async () => {
    assert.ok(!(await isIncluded(0, await leafHash(0), [], treeOf(0))))
    assert.ok(await isConsistent(treeOf(0), treeOf(8), []))
    assert.ok(await isConsistent(treeOf(0), treeOf(0), []))
    assert.ok(!(await isConsistent({ size: 0, root: treeOf(1).root }, treeOf(8), [])))
    assert.ok(!(await isConsistent(treeOf(8), treeOf(0), [])))
  })
})

describe('a proof in a tree with more than 2 ** 32 leaves', () => {
  it('is verified correctly', async () => {
    // All leaves are equal, so each level has a single hash, and a tree of 2 ** 40 leaves needs only 40.
    const levels = [await leafHash(0)]
    for (let level = 0; level < 40; level++) {
      const hash = levels[level] ?? assert.fail()
      levels.push(await hashPair(hash, hash))
    }
    const root = levels.pop() ?? assert.fail()
    const tree = { size: 2 ** 40, root }
    for (const index of [0, 2 ** 31, 2 ** 32, 2 ** 33 + 5, 2 ** 40 - 1]) {
      assert.ok(await isIncluded(index, await leafHash(0), levels, tree))
      assert.ok(!(await isIncluded(index, await leafHash(0), levels.slice(1), tree)))
    }
    const half = { size: 2 ** 39, root: levels[39] ?? assert.fail() }
    assert.ok(await isConsistent(half, tree, [half.root]))
    assert.ok(!(await isConsistent({ ...half, size: 2 ** 38 }, tree, [half.root])))
  })
})

function hex(hash: Buffer): string {
  return hash.toString('hex')
}

async function hashPair(left: Uint8Array, right: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const node = Buffer.concat([Uint8Array.of(1), left, right])
  return new Uint8Array(await crypto.subtle.digest('SHA-256', node))
}
