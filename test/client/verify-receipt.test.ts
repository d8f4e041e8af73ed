import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  type ReceiptOptions,
  VerificationError,
  type VerificationFailure,
  verifyCheckpoint,
  verifyConsistency,
  verifyReceipt,
} from '@lethe/client'
import {
  checkpointOf,
  type ErasureToProve,
  inclusionProof,
  makeReceipt,
  noteSigner,
  nothingHeldRecord,
  receiptText,
  recordOf,
  signNote,
} from '../support/make-receipt.ts'

const origin = 'lethe.local/acme'
const signer = noteSigner(origin, seed('acme'))
const rotated = noteSigner(origin, seed('acme, later'))
const stranger = noteSigner(origin, seed('a forger'))
const signed = { origin, signers: [signer] }
const verifierKeys = [signer.vkey]

function seed(words: string): Buffer {
  return createHash('sha256').update(words).digest()
}

function erasures(count: number): ErasureToProve[] {
  return Array.from({ length: count }, (_, i) => ({
    trackerId: 'shop',
    subjectId: `visitor-${i}`,
    nonce: seed(`nonce ${i}`),
    events: i,
  }))
}

/** Asserts that each text is rejected for one of the reasons. */
async function refuses(
  texts: Iterable<string>,
  reasons: readonly VerificationFailure[],
  options: Partial<ReceiptOptions> = {},
): Promise<void> {
  for (const text of texts) {
    await assert.rejects(
      verifyReceipt(text, { verifierKeys, ...options }),
      (error) => error instanceof VerificationError && reasons.includes(error.reason),
      text,
    )
  }
}

async function failureOf(verification: Promise<unknown>): Promise<VerificationError> {
  const error = await verification.then(() => assert.fail('it was verified')).catch((reason) => reason)
  assert.ok(error instanceof VerificationError, String(error))
  return error
}

describe('a receipt', () => {
  const all = erasures(7)
  const receipt = makeReceipt(4, all, signed)
  const [head = '', extraLine = '', indexLine = '', ...rest] = receipt.split('\n')
  const parts = partsOf(4)

  /** The parts of a receipt. */
  function partsOf(index: number, ledger = all) {
    const leaves = ledger.map((each) => Buffer.from(recordOf(each)))
    const { nonce } = ledger[index] ?? assert.fail()
    return {
      nonce,
      record: recordOf(ledger[index] ?? assert.fail()),
      index,
      proof: inclusionProof(index, leaves),
      checkpoint: checkpointOf(origin, leaves, [signer]),
    }
  }

  /** A receipt for this text as the only entry of its ledger. */
  function receiptOf(record: string): string {
    return receiptText(aloneIn(record))
  }

  /** The parts of a receipt for the only entry of its ledger. */
  function aloneIn(record: string) {
    const checkpoint = checkpointOf(origin, [Buffer.from(record)], [signer])
    return { nonce: parts.nonce, record, index: 0, proof: [], checkpoint }
  }

  /** A receipt with this extra data. */
  function withExtra(extra: string | Uint8Array): string {
    return receipt.replace(extraLine, `extra ${Buffer.from(extra).toString('base64')}`)
  }

  it('states what was erased, its index, and the signers', async () => {
    const verified = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: 'visitor-4' })
    const { rootHash } = verified.checkpoint
    assert.deepEqual(verified, {
      record: {
        version: 1,
        trackerId: 'shop',
        subject: verified.record.subject,
        alreadyErased: false,
        counts: { sessions: 3, events: 4 },
        erasedAt: '2026-11-17T08:00:00.000Z',
      },
      index: 4,
      checkpoint: { origin, size: 7, rootHash, verifiedBy: verifierKeys },
      isSubjectProven: true,
    })
    assert.ok(parts.checkpoint.includes(`\n7\n${rootHash}\n`))
  })

  it('without a data subject only proves that someone was erased, and says so', async () => {
    assert.equal((await verifyReceipt(receipt, { verifierKeys })).isSubjectProven, false)
    const { isSubjectProven } = await verifyReceipt(receipt, { verifierKeys, subjectId: 'visitor-4' })
    assert.equal(isSubjectProven, true)
  })

  it('verifies in ledgers of every size up to 9 and around 16, at every index', async () => {
    const ledger = erasures(17)
    const leaves = ledger.map((each) => Buffer.from(recordOf(each)))
    for (const size of [...Array.from({ length: 9 }, (_, i) => i + 1), 15, 16, 17]) {
      const tree = leaves.slice(0, size)
      const checkpoint = checkpointOf(origin, tree, [signer])
      const verified = ledger.slice(0, size).map(async ({ nonce, trackerId, subjectId }, index) => {
        const proof = inclusionProof(index, tree)
        const text = receiptText({ nonce, record: String(leaves[index]), index, proof, checkpoint })
        const outcome = await verifyReceipt(text, { verifierKeys, trackerId, subjectId })
        assert.deepEqual([outcome.index, outcome.checkpoint.size], [index, size])
      })
      await Promise.all(verified)
    }
  })

  it('fails with any byte changed by one bit, and with any bit changed at the end of a line', async () => {
    const bytes = Buffer.from(receipt)
    const options = { verifierKeys, trackerId: 'shop', subjectId: 'visitor-4' }
    const flipped = Array.from(bytes, (byte, i) => {
      // The last character of a line may encode fewer bits than the others.
      const isLast = bytes.subarray(i, i + 3).includes('\n')
      const bits = isLast ? [0, 1, 2, 3, 4, 5, 6, 7] : [i % 8]
      return bits.map((bit) =>
        Buffer.from(bytes)
          .fill(byte ^ (1 << bit), i, i + 1)
          .toString(),
      )
    }).flat()
    await Promise.all(
      flipped.map((text) =>
        assert.rejects(verifyReceipt(text, options), (error) => error instanceof VerificationError, text),
      ),
    )
  })

  it('fails if it is truncated, extended or has repeated lines', async () => {
    const options = { verifierKeys, trackerId: 'shop', subjectId: 'visitor-4' }
    const texts = receipt
      .split('\n')
      .flatMap((line, i, lines) => [
        lines.toSpliced(i, 1).join('\n'),
        lines.toSpliced(i, 0, line).join('\n'),
        lines.toSpliced(i, 0, '').join('\n'),
        lines.with(i, `${line} `).join('\n'),
        lines.with(i, `${line}\r`).join('\n'),
        lines.slice(0, i).join('\n'),
      ])
    for (const text of [...texts, `\ufeff${receipt}`, `${receipt}${receipt}`, ` ${receipt}`]) {
      // A repeated line of a signature is valid.
      if (text === `${receipt}${receipt.split('\n').at(-2)}\n`) continue
      // A newline at its end is ignored.
      if (text === `${receipt}\n`) continue
      await assert.rejects(
        verifyReceipt(text, options),
        (error) => error instanceof VerificationError,
        JSON.stringify(text),
      )
    }
  })

  it('verifies with extra newlines at its end, as jq -r adds one, and with one after a key', async () => {
    const keyFile = [`${signer.vkey}\n`]
    for (const text of [`${receipt}\n`, `${receipt}\n\n\n`]) {
      const { checkpoint } = await verifyReceipt(text, { verifierKeys: keyFile, subjectId: 'visitor-4' })
      assert.deepEqual(checkpoint.verifiedBy, keyFile)
    }
    const { checkpoint } = parts
    assert.equal((await verifyCheckpoint(`${checkpoint}\n`, { verifierKeys })).size, 7)
    const claim = { from: `${checkpoint}\n`, to: `${checkpoint}\n`, proof: [] }
    assert.equal((await verifyConsistency(claim, { verifierKeys })).from.size, 7)
  })

  it('fails with other characters at its end, even in place of a newline', async () => {
    for (const end of [' ', '\n ', '\t\n', '\u2028', '\n\0', '\n\n—', '\r\n', '\n\u00a0\n']) {
      await refuses([receipt + end], ['malformed_receipt', 'malformed_checkpoint'])
    }
  })

  it('says if an editor or a shell has changed its line endings or its start', async () => {
    const crLf = (text: string) => text.replaceAll('\n', '\r\n')
    const { checkpoint } = parts
    const { message: ofLines } = await failureOf(verifyReceipt(crLf(receipt), { verifierKeys }))
    assert.equal(ofLines, 'The receipt is malformed: its lines end with CR LF instead of LF.')
    const { message: ofMark } = await failureOf(verifyReceipt(`\ufeff${receipt}`, { verifierKeys }))
    assert.equal(ofMark, 'The receipt is malformed: it begins with a byte order mark.')
    for (const text of [crLf(checkpoint), `\ufeff${checkpoint}`]) {
      const failure = await failureOf(verifyCheckpoint(text, { verifierKeys }))
      assert.equal(failure.reason, 'malformed_checkpoint')
      assert.match(failure.message, /CR LF|byte order mark/)
    }
  })

  it('fails for another tracker or data subject, without revealing it', async () => {
    await refuses([receipt], ['wrong_tracker'], { trackerId: 'shpo', subjectId: 'visitor-4' })
    for (const subjectId of ['visitor-5', 'visitor-44', 'visitor-', '', 'Visitor-4', 'visitor-4\0']) {
      await refuses([receipt], ['wrong_subject'], { trackerId: 'shop', subjectId })
    }
    await assert.rejects(verifyReceipt(receipt, { verifierKeys, subjectId: 'somebody' }), (error) => {
      return error instanceof Error && !error.message.includes('somebody')
    })
  })

  it('fails with another nonce if a data subject is given', async () => {
    const text = receiptText({ ...parts, nonce: partsOf(3).nonce })
    await refuses([text], ['wrong_subject'], { subjectId: 'visitor-4' })
    await refuses([text], ['wrong_subject'], { subjectId: 'visitor-3' })
  })

  it('fails with another key, and without keys', async () => {
    await refuses([receipt], ['unknown_key'], { verifierKeys: [stranger.vkey] })
    await refuses([receipt], ['unknown_key'], { verifierKeys: [] })
    await refuses([receipt], ['malformed_key'], { verifierKeys: ['lethe.local/acme'] })
    await refuses([makeReceipt(4, all, { origin, signers: [stranger] })], ['unknown_key'])
    const forged = { ...stranger, keyId: signer.keyId }
    await refuses([makeReceipt(4, all, { origin, signers: [forged] })], ['bad_signature'])
  })

  it('fails with the proof of another entry, or the head of another ledger', async () => {
    for (const index of [0, 1, 2, 3, 5, 6]) {
      const other = partsOf(index)
      await refuses([receiptText({ ...parts, proof: other.proof })], ['not_included'])
      await refuses([receiptText({ ...parts, record: other.record })], ['not_included'])
      await refuses([receiptText({ ...parts, index })], ['not_included'])
    }
    const elsewhere = erasures(7).map((each) => ({ ...each, trackerId: 'blog' }))
    const { checkpoint } = partsOf(4, elsewhere)
    await refuses([receiptText({ ...parts, checkpoint })], ['not_included'])
    await refuses(
      [receiptText({ ...parts, index: 7 }), receiptText({ ...parts, index: 2 ** 53 - 1 })],
      ['not_included'],
    )
    await refuses([receiptText({ ...parts, proof: parts.proof.toReversed() })], ['not_included'])
  })

  it('fails for an inner node of the tree as an entry', async () => {
    const leaves = all.slice(0, 2).map((each) => Buffer.from(recordOf(each)))
    const hashes = leaves.map((leaf) => createHash('sha256').update(Uint8Array.of(0)).update(leaf).digest())
    const node = Buffer.concat(hashes)
    const checkpoint = checkpointOf(origin, leaves, [signer])
    const text = receiptText({ ...parts, record: node.toString('latin1'), index: 0, proof: [], checkpoint })
    await refuses([text], ['not_included'])
  })

  it('fails unless it is in its canonical form', async () => {
    const nonce = parts.nonce.toString('base64url')
    const record = JSON.stringify(parts.record)
    const extras = [
      '',
      'null',
      '{}',
      '[]',
      `{"nonce":"${nonce}"}`,
      `{"nonce":"${nonce}","record":${parts.record}}`,
      `{"record":${record},"nonce":"${nonce}"}`,
      `{"nonce":"${nonce}","record":${record},"more":1}`,
      `{"nonce":"${nonce}","nonce":"${nonce}","record":${record}}`,
      `{"nonce": "${nonce}","record":${record}}`,
      `{"nonce":"${nonce}","record":${record}}\n`,
      `\ufeff{"nonce":"${nonce}","record":${record}}`,
      `{"nonce":"${nonce}=","record":${record}}`,
      `{"nonce":"${nonce.slice(0, -1)}","record":${record}}`,
      `{"nonce":"${parts.nonce.toString('base64')}","record":${record}}`,
      `{"nonce":"${parts.nonce.subarray(1).toString('base64url')}","record":${record}}`,
      Buffer.from([0xff, 0xfe]),
    ]
    await refuses(extras.map(withExtra), ['malformed_receipt'])
    const index = (text: string) => receipt.replace(indexLine, text)
    const indexes = ['index 04', 'index +4', 'index  4', 'index 4 ', 'index 0x4', 'index 4.0', 'index -4']
    await refuses(
      [
        ...[...indexes, 'index', 'index ', 'Index 4', 'index 9007199254740993'].map(index),
        receipt.replace('@v1', '@v2'),
        receipt.replace(`${extraLine}\n`, ''),
        receipt.replace(`${extraLine}\n${indexLine}`, `${indexLine}\n${extraLine}`),
        receipt.replace(rest[0] ?? '', (rest[0] ?? '').replace('=', '')),
        receipt.replace(rest[0] ?? '', 'AAAA'),
        head,
        '',
      ],
      ['malformed_receipt'],
    )
  })

  it('fails unless its entry is canonical JSON with exactly its fields, even if the ledger contains it', async () => {
    const good = parts.record
    const records = [
      '',
      '{}',
      'null',
      '[]',
      `${good}\n`,
      ` ${good}`,
      good.replace('{"alreadyErased":false,', '{'),
      good.replace('"version":1', '"version":2'),
      good.replace('"version":1', '"version":1.0'),
      good.replace('"version":1', '"version":1,"version":1'),
      good.replace('"version":1', '"version":1,"z":1'),
      good.replace('"alreadyErased":false', '"alreadyErased":"false"'),
      good.replace('"events":4', '"events":-4'),
      good.replace('"events":4', '"events":-0'),
      good.replace('"events":4', '"events":4.5'),
      good.replace('"events":4', '"events":4e0'),
      good.replace('"events":4', '"events":"4"'),
      good.replace('"events":4', '"events":null'),
      good.replace('"events":4,"sessions":3', '"sessions":3,"events":4'),
      good.replace('"events":4,', '"events":4,"other":0,'),
      good.replace('08:00:00.000Z', '08:00:00Z'),
      good.replace('08:00:00.000Z', '09:00:00.000+01:00'),
      good.replace('2026-11-17', '2026-11-31'),
      good.replace('"shop"', '"\\u0073hop"'),
      good.replace('"shop"', '"sh\\/op"'),
      good.replace('"shop"', '""'),
      good.replace('"shop"', '"\\ud800"'),
      good.replace('"shop"', '"a\\u0000b"'),
      good.replace(/"subject":"../, '"subject":"'),
      good.replace(/"subject":"[^"]*"/, '"subject":"+/+/"'),
    ]
    for (const record of records) assert.notEqual(record, good)
    await refuses(records.map(receiptOf), ['malformed_record'])
    await verifyReceipt(receiptOf(good), { verifierKeys, subjectId: 'visitor-4' })
  })

  it('fails if its bytes are not UTF-8, even if the ledger contains the replacement character', async () => {
    const text = makeReceipt(0, [{ trackerId: '\ufffd', subjectId: 'anna', nonce: seed('odd') }], signed)
    const [, encoded = ''] = /extra (.*)/.exec(text) ?? []
    const extra = Buffer.from(encoded, 'base64')
    const at = extra.indexOf('\ufffd')
    const broken = Buffer.concat([extra.subarray(0, at), Buffer.of(0xff), extra.subarray(at + 3)])
    await verifyReceipt(text, { verifierKeys })
    await refuses([text.replace(encoded, broken.toString('base64'))], ['malformed_receipt'])
  })

  it('supports every valid ID of a tracker and a data subject', async () => {
    for (const id of ['ü/ \u{1f9a6}', '"quoted" \\ <b>', '\u2028', 'a+b%00', 'e\u0301', 'x'.repeat(256)]) {
      const erasure = { trackerId: id, subjectId: `${id}!`.slice(-256), nonce: seed(id) }
      const text = makeReceipt(1, [...erasures(1), erasure, ...erasures(1)], signed)
      const { trackerId, subjectId } = erasure
      const { record } = await verifyReceipt(text, { verifierKeys, trackerId, subjectId })
      assert.equal(record.trackerId, id)
    }
  })

  it('distinguishes tracker and data subject, whatever their IDs', async () => {
    const text = makeReceipt(0, [{ trackerId: 'a', subjectId: 'bc', nonce: seed('abc') }], signed)
    await refuses([text], ['wrong_subject'], { subjectId: 'c' })
    await refuses([text], ['wrong_tracker'], { trackerId: 'ab', subjectId: 'c' })
  })

  it('reports an erasure that deleted nothing', async () => {
    const nothing = { trackerId: 'shop', subjectId: 'anna', nonce: seed('none'), sessions: 0, events: 0 }
    const text = makeReceipt(1, [...erasures(1), nothing], signed)
    const { record } = await verifyReceipt(text, { verifierKeys, subjectId: 'anna' })
    assert.deepEqual([record.alreadyErased, record.counts], [true, { sessions: 0, events: 0 }])
  })

  const nonce = seed('nothing held')
  const ada = { name: 'email', value: 'ada@example.com' }
  const nothingHeld = (identifier = ada) =>
    receiptText({ ...aloneIn(nothingHeldRecord(nonce, identifier)), nonce })

  it('states that no data was held about an identifier, in any notation', async () => {
    const { record, isSubjectProven } = await verifyReceipt(nothingHeld(), { verifierKeys })
    assert.ok(record.version === 2)
    const { person } = record
    const checkedAt = '2026-11-17T08:00:00.000Z'
    assert.deepEqual(record, { version: 2, kind: 'nothing-held', person, checkedAt })
    assert.equal(isSubjectProven, false)
    for (const value of ['ada@example.com', 'Ada@Example.COM', 'ADA@example.com']) {
      const verified = await verifyReceipt(nothingHeld(), {
        verifierKeys,
        identifier: { name: 'email', value },
      })
      assert.equal(verified.isSubjectProven, true)
    }
    const composed = nothingHeld({ name: 'email', value: '\u00e4@example.com' })
    const decomposed = { name: 'email', value: 'A\u0308@example.com' }
    assert.ok((await verifyReceipt(composed, { verifierKeys, identifier: decomposed })).isSubjectProven)
  })

  it('fails for another identifier, and for an option that does not match its kind', async () => {
    const others = [
      ...[
        { name: 'email', value: 'eda@example.com' },
        { name: 'Email', value: ada.value },
      ],
      ...[
        { name: 'emai', value: `l\0${ada.value}` },
        { name: 'userId', value: ada.value },
      ],
    ]
    for (const identifier of others) await refuses([nothingHeld()], ['wrong_person'], { identifier })
    const member = nothingHeld({ name: 'userId', value: 'Ada' })
    await refuses([member], ['wrong_person'], { identifier: { name: 'userId', value: 'ada' } })
    await refuses([nothingHeld()], ['wrong_kind'], { trackerId: 'shop' })
    await refuses([nothingHeld()], ['wrong_kind'], { subjectId: 'ada@example.com' })
    await refuses([receipt], ['wrong_kind'], { identifier: ada })
    await refuses(
      [receiptText({ ...aloneIn(nothingHeldRecord(nonce, ada)), nonce: seed('x') })],
      ['wrong_person'],
      {
        identifier: ada,
      },
    )
  })

  it('fails if a no-data entry is not canonical, or has a newer version', async () => {
    const good = nothingHeldRecord(nonce, ada)
    const bad = [
      good.replace('nothing-held', 'erasure'),
      good.replace('"kind":"nothing-held",', ''),
      good.replace('"version":2', '"version":1'),
      good.replace('"version":2', '"trackerId":"shop","version":2'),
      good.replace('.000Z', 'Z'),
      good.replace(/"person":"./, '"person":"'),
      `${good} `,
    ]
    await refuses(bad.map(receiptOf), ['malformed_record'])
    await refuses(['{"version":3}', good.replace('"version":2', '"version":3')].map(receiptOf), [
      'unsupported',
    ])
  })

  it('verifies after a rotation with the old key, the new one or both, with any further signatures', async () => {
    const witness = noteSigner('witness.example', seed('witness'))
    const text = makeReceipt(4, all, { origin, signers: [rotated, witness, signer] })
    for (const keys of [[signer.vkey], [rotated.vkey], [rotated.vkey, signer.vkey]]) {
      const { checkpoint } = await verifyReceipt(text, { verifierKeys: keys })
      assert.deepEqual(checkpoint.verifiedBy, keys)
    }
    const spoiled = makeReceipt(4, all, { origin, signers: [rotated, { ...stranger, keyId: signer.keyId }] })
    await refuses([spoiled], ['bad_signature'], { verifierKeys: [rotated.vkey, signer.vkey] })
    await verifyReceipt(spoiled, { verifierKeys: [rotated.vkey] })
  })

  it('fails if the key belongs to another ledger, even if it signed this one', async () => {
    const other = noteSigner('lethe.local/other', seed('other'))
    const text = makeReceipt(4, all, { origin, signers: [other] })
    await refuses([text], ['wrong_origin'], { verifierKeys: [other.vkey] })
    const both = makeReceipt(4, all, { origin, signers: [other, signer] })
    const { checkpoint } = await verifyReceipt(both, { verifierKeys: [other.vkey, signer.vkey] })
    assert.deepEqual(checkpoint.verifiedBy, verifierKeys)
  })

  it('fails if its checkpoint is malformed, even if it is signed', async () => {
    const text = parts.checkpoint.slice(0, parts.checkpoint.lastIndexOf('\n\n') + 1)
    const [, size = '', root = ''] = text.split('\n')
    const texts = [
      `${origin}\n${size}\n`,
      `${origin}\n0${size}\n${root}\n`,
      `${origin}\n+${size}\n${root}\n`,
      `${origin}\n${size} \n${root}\n`,
      `${origin}\n${size}\n${root.replace('=', '')}\n`,
      `${origin}\n${size}\nAAAA\n`,
      `${origin}\n${size}\n\n${root}\n`,
      `${origin}\n${size}\n${root}\n\n`,
      `\n${size}\n${root}\n`,
    ]
    const checkpoints = texts.map((each) => signNote(each, [signer]))
    await refuses(
      checkpoints.map((checkpoint) => receiptText({ ...parts, checkpoint })),
      ['malformed_checkpoint'],
    )
    const extended = signNote(`${text}whatever else\n`, [signer])
    await verifyReceipt(receiptText({ ...parts, checkpoint: extended }), { verifierKeys })
  })
})
