import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { verifyCheckpoint, verifyReceipt } from '../../client/src/index.ts'
import { Keyring, personCommitment, subjectCommitment } from '../../src/domain/keyring.ts'
import { exampleErasure, exampleVerifierKey } from '../../src/http/api/examples.ts'
import { testSecret } from '../support/test-keyring.ts'

const [old, young] = [testSecret('old'), testSecret('young')]
const before = new Keyring([old], 'lethe.local')
const rotated = new Keyring([young, old], 'lethe.local')
const at = Date.parse('2026-11-15T09:30:00.000Z')

describe('a keyring', () => {
  it('creates tombstones with its first secret, and recognises those of all secrets', () => {
    const [fresh, ...others] = rotated.tombstoneDigests('shop', 'anna')
    assert.deepEqual(others, before.tombstoneDigests('shop', 'anna'))
    assert.notDeepEqual(fresh, others[0])
    assert.equal(fresh.length, 16)
  })

  it('distinguishes subjects, trackers and installations', () => {
    const digests = [
      before.tombstoneDigests('shop', 'anna'),
      before.tombstoneDigests('shop', 'ann'),
      before.tombstoneDigests('sho', 'panna'),
      new Keyring([young], 'lethe.local').tombstoneDigests('shop', 'anna'),
    ].map(([digest]) => digest.toString('hex'))
    assert.equal(new Set(digests).size, digests.length)
  })

  it('finds the nonce of a receipt of any of its secrets, but of no other subject', () => {
    const nonce = before.nonce('shop', 'anna', at)
    const record = { erasedAt: at, subject: subjectCommitment(nonce, 'shop', 'anna') }
    assert.deepEqual(rotated.nonceOf('shop', 'anna', record), nonce)
    assert.equal(rotated.nonceOf('shop', 'ben', record), null)
    assert.equal(rotated.nonceOf('shop', 'anna', { ...record, erasedAt: at + 1 }), null)
    assert.equal(new Keyring([young], 'lethe.local').nonceOf('shop', 'anna', record), null)
  })

  it('finds the nonce of a no-data receipt for any notation of the identifier', () => {
    const ada = { name: 'email', value: 'Ada@example.com' }
    const nonce = before.personNonce('acme', ada, at)
    const record = { checkedAt: at, person: personCommitment(nonce, ada) }
    const written = { name: 'email', value: 'ADA@EXAMPLE.com' }
    assert.deepEqual(rotated.personNonceOf('acme', written, record), nonce)
    assert.equal(rotated.personNonceOf('acme', { ...ada, name: 'mail' }, record), null)
    assert.equal(rotated.personNonceOf('rival', ada, record), null)
    assert.equal(rotated.personNonceOf('acme', ada, { ...record, checkedAt: at + 1 }), null)
    assert.deepEqual(rotated.openNonce(before.sealNonce(nonce, record.person), record.person), nonce)
    // The same texts have another nonce for an erasure.
    assert.notDeepEqual(before.nonce(`acme\0email`, 'ada@example.com', at), nonce)
  })

  it('signs with every secret, so that clients with an older key can continue', async () => {
    const checkpoint = rotated.signCheckpoint('acme', { size: 0, rootHash: Buffer.alloc(32) })
    for (const signers of [before.signersOf('acme'), rotated.signersOf('acme')]) {
      const verifierKeys = signers.slice(0, 1).map(({ verifierKey }) => verifierKey)
      assert.equal((await verifyCheckpoint(checkpoint, { verifierKeys })).size, 0)
    }
    const stranger = new Keyring([testSecret('stranger')], 'lethe.local').signersOf('acme')
    const verifierKeys = stranger.map(({ verifierKey }) => verifierKey)
    await assert.rejects(verifyCheckpoint(checkpoint, { verifierKeys }))
  })

  it('has a separate key for each organisation, with a name that encodes any ID', () => {
    const [odd] = before.signersOf('ümlaut & co+1')
    assert.match(odd?.verifierKey ?? '', /^lethe\.local\/%C3%BCmlaut%20%26%20co%2B1\+[0-9a-f]{8}\+\S+$/)
    assert.notEqual(odd?.verifierKey.split('+')[2], before.signersOf('acme')[0]?.verifierKey.split('+')[2])
  })
})

describe('the receipt in the API reference', () => {
  it('is valid', async () => {
    const { trackerId, subjectId, receipt, counts } = exampleErasure
    const { record } = await verifyReceipt(receipt, {
      verifierKeys: [exampleVerifierKey],
      trackerId,
      subjectId,
    })
    assert.deepEqual(record.counts, counts)
  })
})
