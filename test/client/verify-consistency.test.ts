import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  type ConsistencyClaim,
  VerificationError,
  type VerificationFailure,
  verifyCheckpoint,
  verifyConsistency,
} from '@lethe/client'
import { checkpointOf, consistencyProof, noteSigner, rootOf } from '../support/make-receipt.ts'

const origin = 'lethe.local/acme'
const signer = noteSigner(origin, seed('acme'))
const verifierKeys = [signer.vkey]
const leaves = Array.from({ length: 40 }, (_, i) => Buffer.from(`entry ${i}`))

function seed(words: string): Buffer {
  return createHash('sha256').update(words).digest()
}

function checkpoint(size: number, of = leaves): string {
  return checkpointOf(origin, of.slice(0, size), [signer])
}

function head(size: number, of = leaves) {
  return { size, rootHash: rootOf(of.slice(0, size)).toString('base64') }
}

function proof(from: number, to: number): string[] {
  return consistencyProof(from, leaves.slice(0, to)).map((hash) => hash.toString('base64'))
}

async function refuses(claim: ConsistencyClaim, reason: VerificationFailure, keys = verifierKeys) {
  await assert.rejects(
    verifyConsistency(claim, { verifierKeys: keys }),
    (error) => error instanceof VerificationError && error.reason === reason,
  )
}

describe('a checkpoint', () => {
  it('has its ledger, its size and its signers', async () => {
    assert.deepEqual(await verifyCheckpoint(checkpoint(9), { verifierKeys }), {
      origin,
      ...head(9),
      verifiedBy: verifierKeys,
    })
    const empty = await verifyCheckpoint(checkpoint(0), { verifierKeys })
    assert.equal(empty.size, 0)
  })
})

describe('a consistency proof', () => {
  it('verifies for every two ledgers of up to 17 entries of which one extends the other', async () => {
    const checkpoints = Array.from({ length: 17 + 1 }, (_, size) => checkpoint(size))
    for (const [size, to] of checkpoints.entries()) {
      const verified = checkpoints.slice(0, size + 1).map(async (older, from) => {
        const claim = { from: from % 2 === 0 ? older : head(from), to, proof: proof(from, size) }
        const outcome = await verifyConsistency(claim, { verifierKeys })
        assert.deepEqual([outcome.from.size, outcome.to.size], [from, size])
      })
      await Promise.all(verified)
    }
  })

  it('fails for a ledger with a changed entry, with any proof', async () => {
    const changed = leaves.with(2, Buffer.from('something else'))
    for (const [from, to] of [
      [3, 7],
      [4, 8],
      [8, 8],
      [5, 40],
    ] as const) {
      await refuses({ from: head(from, changed), to: checkpoint(to), proof: proof(from, to) }, 'inconsistent')
      await refuses({ from: head(from), to: checkpoint(to, changed), proof: proof(from, to) }, 'inconsistent')
      const own = consistencyProof(from, changed.slice(0, to)).map((hash) => hash.toString('base64'))
      await refuses({ from: head(from), to: checkpoint(to, changed), proof: own }, 'inconsistent')
    }
  })

  it('fails with the proof of other sizes, one hash too many or too few, or two swapped', async () => {
    const good = proof(6, 21)
    const claim = { from: head(6), to: checkpoint(21) }
    const [first = '', second = '', ...rest] = good
    for (const wrong of [
      proof(5, 21),
      proof(6, 20),
      [...good, first],
      good.slice(1),
      good.slice(0, -1),
      [second, first, ...rest],
      [],
    ]) {
      await refuses({ ...claim, proof: wrong }, 'inconsistent')
    }
    await verifyConsistency({ ...claim, proof: good }, { verifierKeys })
  })

  it('fails from a larger ledger to a smaller one', async () => {
    await refuses({ from: head(8), to: checkpoint(7), proof: [] }, 'inconsistent')
    await refuses({ from: head(8), to: checkpoint(4), proof: proof(4, 8) }, 'inconsistent')
  })

  it('fails if either checkpoint is not signed by the key, or is of another ledger', async () => {
    const forger = noteSigner(origin, seed('a forger'))
    const forged = checkpointOf(origin, leaves.slice(0, 4), [forger])
    await refuses({ from: forged, to: checkpoint(8), proof: proof(4, 8) }, 'unknown_key')
    await refuses({ from: head(4), to: forged, proof: [] }, 'unknown_key')
    const other = noteSigner('lethe.local/other', seed('other'))
    const elsewhere = checkpointOf(other.name, leaves.slice(0, 4), [other])
    const keys = [signer.vkey, other.vkey]
    await refuses({ from: elsewhere, to: checkpoint(8), proof: proof(4, 8) }, 'wrong_origin', keys)
  })

  it('fails if the proof or the first size and root are malformed', async () => {
    const to = checkpoint(8)
    const good = proof(6, 8)
    await refuses({ from: head(6), to, proof: good.map((hash) => hash.replace('=', '')) }, 'malformed_proof')
    await refuses({ from: head(6), to, proof: [...good, ''] }, 'malformed_proof')
    for (const size of [-6, 6.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await refuses({ from: { ...head(6), size }, to, proof: good }, 'malformed_proof')
    }
    await refuses({ from: { size: 6, rootHash: 'AAAA' }, to, proof: good }, 'malformed_proof')
  })
})
