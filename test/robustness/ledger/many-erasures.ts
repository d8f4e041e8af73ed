import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { type Consistency, verifyConsistency, verifyReceipt } from '@lethe/client'
import { dataOf, listIn, textIn } from '../../support/answers.ts'
import { type CommandLine, callApi, onlyJson, textOf } from '../../support/command-line.ts'
import { askRaw } from '../../support/raw-http.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { startTestService } from '../../support/service.ts'
import { visit } from '../../support/shop.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShopAt } from '../kill/shop-store.ts'

/** How many erasures, by how many processes, this one among them. */
export interface Crowd {
  erasures: number
  processes: number
}

/** So many requests are under way to each process. */
const lanes = 8

interface HandedOut {
  subjectId: string
  receipt: string
}

/** Lets several services on one store erase at once, and holds every receipt they handed out against the ledger in the end. */
export function eraseByMany(
  makeCli: (t: TestContext) => Promise<{ cli: CommandLine; address: string }>,
  { erasures, processes }: Crowd,
): void {
  it(`${erasures} erasures by ${processes} processes leave one tree, in which every receipt still holds`, async (t) => {
    const random = seededRandom()
    const { cli, address } = await makeCli(t)
    // Some subjects are erased by more than one process, and some were never seen.
    const subjects = Array.from({ length: Math.ceil(erasures * 0.8) }, (_, i) => `subject-${i}`)
    const seen = subjects.filter((_, i) => i % 4 !== 0)
    await buildShopAt(
      address,
      seen.flatMap((subjectId) => visit(subjectId, { events: 1 })),
    )
    const key = await createKey(cli)
    const here = await startTestService(t, { LETHE_STORE: address })
    const elsewhere = await Promise.all(Array.from({ length: processes - 1 }, () => startRoomyServer(cli)))
    const servers = [here, ...elsewhere]
    const doomed = random.shuffle([...subjects, ...subjects.slice(0, erasures - subjects.length)])
    const receipts: HandedOut[] = []
    const counted = { erased: 0, nothingThere: 0 }
    const startedAt = performance.now()
    const work = doomed.entries()
    await Promise.all(
      servers.flatMap(({ url }) =>
        Array.from({ length: lanes }, async () => {
          for (const [, subjectId] of work) {
            const path = `/v1/analytics/trackers/shop/subjects/${subjectId}`
            const { status, data } = await callApi(url + path, key, 'DELETE')
            assert.equal(status, 200)
            counted[data.alreadyErased === true ? 'nothingThere' : 'erased'] += 1
            receipts.push({ subjectId, receipt: textOf(data, 'receipt') })
          }
        }),
      ),
    )
    const erasedMs = performance.now() - startedAt
    assert.deepEqual(counted, { erased: seen.length, nothingThere: erasures - seen.length })

    const ask = async (path: string) => dataOf(await askRaw(here.url, `/v1/analytics/ledger${path}`, { key }))
    const ledger = await ask('')
    assert.equal(ledger.size, erasures)
    const verifierKeys = listIn(ledger, 'verifierKeys').map(String)
    const indexes = new Set<number>()
    const proofs = new Map<number, Promise<Consistency>>()
    const proofFrom = (from: number) => {
      const known = proofs.get(from) ?? ask(`/consistency?from=${from}`).then(toConsistency)
      proofs.set(from, known)
      return known
    }
    for (const { subjectId, receipt } of receipts) {
      const verified = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId })
      indexes.add(verified.index)
      const { proof, checkpoint } = await proofFrom(verified.checkpoint.size)
      const { to } = await verifyConsistency(
        { from: verified.checkpoint, to: checkpoint, proof },
        { verifierKeys },
      )
      assert.deepEqual([to.size, to.rootHash], [erasures, textIn(ledger, 'rootHash')])
    }
    assert.equal(indexes.size, erasures, 'every entry was handed out once')
    await here.stop()
    for (const server of elsewhere) await stopServer(server)
    const { ledgers } = onlyJson(await cli.run(['ledger', 'verify', '--json']))
    assert.partialDeepStrictEqual(ledgers, [
      { size: erasures, rootHash: ledger.rootHash, problem: null, olderCount: 0 },
    ])
    t.diagnostic(
      `LETHE_TEST_SEED=${random.seed}: ${erasures} erasures in ${Math.round(erasedMs / 1_000)} s, receipts against ${proofs.size} different heads`,
    )
  })
}

function toConsistency(data: Record<string, unknown>): Consistency {
  return {
    from: Number(data.from),
    to: Number(data.to),
    proof: listIn(data, 'proof').map(String),
    checkpoint: textIn(data, 'checkpoint'),
  }
}
