import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { KnownChanges } from '../../src/domain/journal.ts'
import { openHead } from '../../src/domain/ledger.ts'
import { FileJournal } from '../../src/journal.ts'
import { LedgerJournal } from '../../src/operations/journal.ts'
import { proveNothingHeld } from '../../src/operations/nothing-held.ts'
import { proveReceipt, reissueReceipt } from '../../src/operations/receipt.ts'
import { verifyLedger } from '../../src/operations/verify-ledger.ts'
import { emails, recordNothingHeld } from '../support/nothing-held.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testMark } from '../support/test-keyring.ts'
import { addTracker, failure, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()

async function open(t: TestContext) {
  const tracker = await addTracker(deps(), fresh('tracker'))
  const { organisationId } = tracker
  const file = new FileJournal(`${temporaryFolder(t)}/journal`)
  const journal = new LedgerJournal(file, deps())
  const verifierKeys = deps()
    .keyring.signersOf(organisationId)
    .map(({ verifierKey }) => verifierKey)
  return { all: { ...deps(), journal }, tracker, organisationId, file, verifierKeys }
}

describe('a no-data certificate', () => {
  it('has a receipt for each identifier, once for all its notations', async (t) => {
    const { all, organisationId, verifierKeys } = await open(t)
    const asked = [...emails('Ada@example.com', 'ada@EXAMPLE.com'), { name: 'userId', value: '42' }]
    const proven = await recordNothingHeld(all, organisationId, asked)
    assert.deepEqual(
      proven.map(({ name, ledgerIndex, checkedAt }) => [name, ledgerIndex, checkedAt]),
      [
        ['email', 0, all.clock()],
        ['userId', 1, all.clock()],
      ],
    )
    for (const [i, { receipt }] of proven.entries()) {
      const identifier = asked[i + 1] ?? assert.fail()
      const verified = await verifyReceipt(receipt, { verifierKeys, identifier })
      assert.deepEqual([verified.index, verified.checkpoint.size], [i, 2])
    }
    const records = (await all.ledger.list(organisationId, 0, 10)).map(({ record }) => record)
    assert.doesNotMatch(records.join(), /example/i)
    for (const record of records) {
      assert.match(record, /^{"checkedAt":"\S+Z","kind":"nothing-held","person":"[\w-]{43}","version":2}$/)
    }
    assert.equal((await verifyLedger(all, organisationId)).problem, null)
  })

  it('is in the journal when it is returned, without a gap', async (t) => {
    const { all, tracker, organisationId, file } = await open(t)
    // An erasure with a lost response, which the journal therefore lacks.
    await all.subjects.erase(tracker, 'anna', testMark(tracker, 'anna', 1))
    await recordNothingHeld(all, organisationId, emails('ada@example.com'))
    const known = new KnownChanges()
    for await (const line of file.read()) known.add(line)
    assert.deepEqual([known.ledger(organisationId).next, known.ledger(organisationId).gaps()], [2, []])
  })

  it('can be reissued from the sealed nonce or the identifier only', async (t) => {
    const { all, tracker, organisationId, verifierKeys } = await open(t)
    const [ada] = emails('ada@example.com')
    const [proven] = await recordNothingHeld(all, organisationId, emails('ada@example.com'))
    assert.ok(ada && proven)
    await all.subjects.erase(tracker, 'anna', testMark(tracker, 'anna', 1))
    const head = openHead(all.keyring.headKeys, organisationId, await all.ledger.head(organisationId))
    const { ledgerIndex, entry } = proven
    const again = await reissueReceipt(all, organisationId, head, { ledgerIndex, ...entry })
    const verified = await verifyReceipt(again.receipt, { verifierKeys, identifier: ada })
    assert.deepEqual([verified.index, verified.checkpoint.size], [0, 2])
    const prove = (sought: Parameters<typeof proveReceipt>[3], index = 0) =>
      proveReceipt(all, organisationId, index, sought)
    assert.equal(await prove({ identifier: { name: 'email', value: 'ADA@example.com' } }), again.receipt)
    assert.equal(await prove({ identifier: { name: 'email', value: 'eva@example.com' } }), null)
    assert.equal(await prove({ subjectId: 'ada@example.com' }), null)
    assert.equal(await prove({ identifier: ada }, 1), null)
    assert.notEqual(await prove({ subjectId: 'anna' }, 1), null)
    await failure('not_found', prove({ identifier: ada }, 2))
    const other = { ledgerIndex: 1, sealedNonce: entry.sealedNonce }
    await assert.rejects(reissueReceipt(all, organisationId, head, other), /does not match/)
  })

  it('appends nothing if its transaction does not, and still runs it without identifiers', async (t) => {
    const { all, organisationId } = await open(t)
    assert.equal(await proveNothingHeld(all, organisationId, emails('a@b.c'), async () => null), null)
    let ran = 0
    const none = await proveNothingHeld(all, organisationId, [], async (entries) => {
      ran += 1
      assert.deepEqual(entries, [])
      return []
    })
    assert.deepEqual([none, ran], [[], 1])
    assert.equal(await all.ledger.head(organisationId), null)
  })

  it('is journalled later if the response of its transaction was lost', async (t) => {
    const { all, organisationId, file } = await open(t)
    const lost = proveNothingHeld(all, organisationId, emails('a@b.c'), async (entries, guard) => {
      await all.ledger.append(
        organisationId,
        entries.map(({ record }) => record),
        guard,
      )
      throw new Error('The connection was lost.')
    })
    await assert.rejects(lost, /connection was lost/)
    const lines: unknown[] = []
    for await (const line of file.read()) lines.push(line)
    assert.partialDeepStrictEqual(lines, [{ kind: 'nothing-held', index: 0, organisationId }])
  })
})
