import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { type BatchOutcome, type BatchProgress, JournalError, LetheClient } from '@lethe/client'
import { fileJournal } from '@lethe/client/file-journal'
import { clientOf, movedTime, recordingFetch } from '../support/client.ts'
import { deriveOnce } from '../support/derive-once.ts'
import { failure, scriptedServer } from '../support/scripted-server.ts'
import { startShop, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

deriveOnce(1)
const shop = await startShop({ after }, { scopes: ['analytics:delete-data'] })
const runtime = movedTime(shop.passTime)

/** The shop with these visitors, whoever was erased before, and a client of it. */
let comings = 0

/** They come back in every test, after all that was erased before. */
async function withVisitors(t: TestContext, count = 5) {
  const ids = Array.from({ length: count }, (_, number) => `visitor-${number}`)
  const startedAt = Date.now() + ++comings * 60_000
  await shop.ingest(ids.flatMap((subjectId) => visit(subjectId, { startedAt })))
  const recorded = recordingFetch()
  const client = clientOf(shop, { runtime, fetch: recorded.fetch })
  const path = join(temporaryFolder(t), 'batch.journal')
  return { ...shop, ...recorded, runtime, client, ids, path }
}

async function collect(outcomes: AsyncIterable<BatchOutcome>): Promise<string[]> {
  const ids: string[] = []
  for await (const { subjectId } of outcomes) ids.push(subjectId)
  return ids
}

/** Erases so many, then leaves, as a process does that ends. */
async function eraseSome(outcomes: AsyncIterable<BatchOutcome>, count: number): Promise<void> {
  let left = count
  for await (const _ of outcomes) if (--left === 0) return
}

describe('a batch with a journal', () => {
  it('goes on where it stopped, and does nothing more once it is done', async (t) => {
    const { client, ids, path, exchanges } = await withVisitors(t)
    await eraseSome(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }), 2)
    const plan = await client.planErasures('shop', ids, { journal: fileJournal(path) })
    assert.partialDeepStrictEqual(plan, { total: 5, done: 2, erased: 2, resumed: 2, leftMs: 0 })
    const progress: BatchProgress[] = []
    const onProgress = (state: BatchProgress) => progress.push(state)
    const rest = await collect(client.eraseSubjects('shop', ids, { journal: fileJournal(path), onProgress }))
    assert.deepEqual(rest, ids.slice(2))
    assert.partialDeepStrictEqual(progress.at(-1), { done: 5, erased: 5, resumed: 2, counts: { events: 5 } })
    assert.equal(exchanges.length, 5)
    const again = await collect(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }))
    assert.deepEqual(again, [])
    assert.equal(exchanges.length, 5)
  })

  it('keeps nothing in it by which a data subject is known, and keeps it to its owner', async (t) => {
    const { client, ids, path } = await withVisitors(t)
    await collect(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }))
    const text = readFileSync(path, 'utf8')
    assert.equal(text.split('\n').length, 1 + 2 * ids.length + 1)
    for (const secret of [...ids, 'shop', 'visitor']) assert.equal(text.includes(secret), false, secret)
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })

  it('says that counts are not known of one that was sent before, without a word on what came of it', async (t) => {
    const { client, ids, path, ask, key } = await withVisitors(t, 3)
    await eraseSome(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }), 1)
    // What a process leaves that was killed between the service's answer and its note.
    appendFileSync(path, '{"type":"sent","position":1,"nextAt":null}\n')
    await ask('/v1/analytics/trackers/shop/subjects/visitor-1', { method: 'DELETE', key })
    let last: BatchProgress | undefined
    const onProgress = (state: BatchProgress) => {
      last = state
    }
    const options = { journal: fileJournal(path), onProgress }
    const known: boolean[] = []
    for await (const outcome of client.eraseSubjects('shop', ids, options)) {
      assert.ok(outcome.status === 'erased')
      known.push(outcome.erasure.countsKnown)
    }
    assert.deepEqual(known, [false, true])
    assert.partialDeepStrictEqual(last, { erased: 2, alreadyErased: 0, unknown: 1 })
  })

  it('does not doubt the counts of one that was refused before', async (t) => {
    const { client, ids, path, runtime } = await withVisitors(t, 2)
    const lines = () => readFileSync(path, 'utf8').trimEnd().split('\n')
    const url = await scriptedServer(t, failure(401, 'unauthorized'))
    const stranger = new LetheClient({ ...url, apiKey: 'x', runtime })
    await assert.rejects(collect(stranger.eraseSubjects('shop', ids, { journal: fileJournal(path) })), {
      code: 'unauthorized',
    })
    assert.deepEqual(lines().slice(1), [
      '{"type":"sent","position":0,"nextAt":null}',
      '{"type":"refused","position":0}',
    ])
    const other = `${path}-2`
    await assert.rejects(collect(client.eraseSubjects('nowhere', ids, { journal: fileJournal(other) })), {
      code: 'not_found',
    })
    for await (const outcome of client.eraseSubjects('shop', ['nobody'], {
      journal: fileJournal(`${path}-3`),
    })) {
      assert.ok(outcome.status === 'erased' && outcome.erasure.alreadyErased && outcome.erasure.countsKnown)
    }
  })

  it('keeps its pace when it is started again and again', async (t) => {
    const env = { LETHE_LIMIT_ERASURE: '2/hour' }
    const shop = await startShop(t, { scopes: ['analytics:delete-data'], env })
    const { fetch, exchanges } = recordingFetch()
    const runtime = movedTime(shop.passTime)
    const ids = Array.from({ length: 7 }, (_, number) => `visitor-${number}`)
    const path = join(temporaryFolder(t), 'batch.journal')
    for (let run = 0; run < ids.length; run++) {
      const client = clientOf(shop, { runtime, fetch })
      await eraseSome(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }), 1)
    }
    assert.deepEqual(
      exchanges,
      ids.map(() => 'DELETE 200'),
    )
    assert.ok(runtime.waits.every((ms) => ms > 29 * 60_000))
    // A clock that was wrong when the last line was written costs no more than the longest window.
    const nextAt = '2999-01-01T00:00:00.000Z'
    const written = readFileSync(path, 'utf8').trimEnd().split('\n')
    const lines = written.map((line) => line.replace(/"nextAt":"[^"]+"/, `"nextAt":"${nextAt}"`))
    writeFileSync(path, `${lines.slice(0, -1).join('\n')}\n`)
    const waited = runtime.waits.length
    await eraseSome(
      clientOf(shop, { runtime, fetch }).eraseSubjects('shop', ids, { journal: fileJournal(path) }),
      1,
    )
    assert.ok(runtime.waits.slice(waited).every((ms) => ms < 86_400_000))
  })

  it('tries again what failed', async (t) => {
    const shop = await withVisitors(t, 3)
    let isBroken = true
    const client = clientOf(shop, {
      runtime: shop.runtime,
      fetch: async (input, init) => {
        if (isBroken && String(input).endsWith('visitor-1')) throw new TypeError('broken off')
        return fetch(input, init)
      },
    })
    const statuses: string[] = []
    for await (const { status } of client.eraseSubjects('shop', shop.ids, {
      journal: fileJournal(shop.path),
    })) {
      statuses.push(status)
    }
    assert.deepEqual(statuses, ['erased', 'failed', 'erased'])
    isBroken = false
    const again = await collect(client.eraseSubjects('shop', shop.ids, { journal: fileJournal(shop.path) }))
    assert.deepEqual(again, ['visitor-1'])
  })

  it('takes a line without its end for what a crash left of it', async (t) => {
    const { client, ids, path, exchanges } = await withVisitors(t)
    await eraseSome(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }), 3)
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, whole.slice(0, -25))
    const rest = await collect(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }))
    assert.deepEqual(rest, ids.slice(2))
    assert.equal(exchanges.length, 6)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    for (const line of lines) JSON.parse(line)
    assert.deepEqual(await collect(client.eraseSubjects('shop', ids, { journal: fileJournal(path) })), [])
  })

  it('begins anew where not even the first line was whole', async (t) => {
    const { client, ids, path } = await withVisitors(t, 2)
    for (const start of ['', '{"type":"ba', '{"type":"batch","version":1,"total":2,"sa']) {
      writeFileSync(path, start)
      assert.equal(
        (await collect(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }))).length,
        2,
      )
    }
  })
})

describe('a journal is refused, and nothing sent or written,', () => {
  async function refused(
    t: TestContext,
    {
      prepare,
      ids,
      trackerId = 'shop',
    }: { prepare?: (path: string) => void; ids?: string[]; trackerId?: string },
    reason: RegExp,
  ): Promise<void> {
    const shop = await withVisitors(t, 3)
    await eraseSome(shop.client.eraseSubjects('shop', shop.ids, { journal: fileJournal(shop.path) }), 1)
    prepare?.(shop.path)
    const before = readFileSync(shop.path, 'utf8')
    const work = { journal: fileJournal(shop.path) }
    await assert.rejects(
      collect(shop.client.eraseSubjects(trackerId, ids ?? shop.ids, work)),
      (error) => error instanceof JournalError && reason.test(error.message),
    )
    await assert.rejects(shop.client.planErasures(trackerId, ids ?? shop.ids, work), JournalError)
    assert.equal(readFileSync(shop.path, 'utf8'), before)
    assert.equal(shop.exchanges.length, 1)
  }

  const another = /belongs to another batch/
  it('for other ids', (t) => refused(t, { ids: ['visitor-0', 'visitor-1', 'visitor-3'] }, another))
  it('for more ids', (t) => refused(t, { ids: ['visitor-0', 'visitor-1', 'visitor-2', 'x'] }, another))
  it('for another order', (t) => refused(t, { ids: ['visitor-1', 'visitor-0', 'visitor-2'] }, another))
  it('for another tracker', (t) => refused(t, { trackerId: 'blog' }, another))

  it('for another service', async (t) => {
    const { ids, client, path, key, runtime } = await withVisitors(t, 3)
    await eraseSome(client.eraseSubjects('shop', ids, { journal: fileJournal(path) }), 1)
    const elsewhere = new LetheClient({ url: 'http://127.0.0.1:1', apiKey: key, runtime })
    await assert.rejects(
      collect(elsewhere.eraseSubjects('shop', ids, { journal: fileJournal(path) })),
      another,
    )
  })

  it('when a line in its middle is damaged', (t) =>
    refused(
      t,
      { prepare: (path) => appendFileSync(path, 'oops\n{"type":"sent","position":1,"nextAt":null}\n') },
      /^Line 4 of the checkpoint file is damaged/,
    ))
  it('when it speaks of positions that are not there', (t) =>
    refused(
      t,
      { prepare: (path) => appendFileSync(path, '{"type":"sent","position":3,"nextAt":null}\n') },
      /^Line 4/,
    ))
  it('when it is of a newer version', (t) =>
    refused(
      t,
      {
        prepare: (path) =>
          writeFileSync(path, readFileSync(path, 'utf8').replace('"version":1', '"version":2')),
      },
      /not the checkpoint file/,
    ))
  it('when it is something else, whole lines or not', async (t) => {
    await refused(t, { prepare: (path) => writeFileSync(path, 'precious') }, /is not a checkpoint file/)
    await refused(
      t,
      { prepare: (path) => writeFileSync(path, 'precious\nlines\n') },
      /is not a checkpoint file/,
    )
  })
})

describe('a journal that cannot be written', () => {
  it('stops the batch before anything is sent', async (t) => {
    const { client, ids, exchanges } = await withVisitors(t, 2)
    const journal = {
      read: async () => [],
      append: async () => {
        throw new Error('disk full')
      },
    }
    await assert.rejects(collect(client.eraseSubjects('shop', ids, { journal })), { message: 'disk full' })
    assert.deepEqual(exchanges, [])
  })
})
