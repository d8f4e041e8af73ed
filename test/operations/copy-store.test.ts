import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before as beforeAll, describe, it, type TestContext } from 'node:test'
import type { Store, TransferTable } from '../../src/domain/store.ts'
import { copyStore, countRows } from '../../src/operations/copy-store.ts'
import { type CopyEnds, type Verification, verifyCopy } from '../../src/operations/verify-copy.ts'
import { Fixture } from '../storage/contract/fixture.ts'
import { emptyStore, openStoreAt } from '../support/empty-store.ts'
import { everyTracker, fillEverything } from '../support/everything.ts'
import { freshStore } from '../support/fresh-database.ts'
import { rowsAt } from '../support/raw-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eraseIn, unrelatedKeys } from '../support/test-keyring.ts'

const quietly = { onRows() {} }

interface Place {
  address: string
  store: Store
}

/** The targets of a copy. */
const targets = {
  SQLite: async (t: TestContext) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`,
  PostgreSQL: freshStore,
}

async function openAt(t: TestContext, address: string): Promise<Place> {
  const store = await openStoreAt(address, { writesHere: true })
  t.after(() => store.close())
  return { address, store }
}

const everything = join(temporaryFolder({ after }), 'everything.db')
beforeAll(async () => {
  const store = await openStoreAt(`sqlite:${everything}`, { writesHere: true })
  await fillEverything(store)
  await store.close()
})

/** A store with rows in every table. */
async function openFull(t: TestContext): Promise<Place> {
  const path = join(temporaryFolder(t), 'full.db')
  copyFileSync(everything, path)
  return openAt(t, `sqlite:${path}`)
}

/** The same, and an empty one. */
async function fullAndEmpty(t: TestContext): Promise<{ source: Place; target: Place; ends: CopyEnds }> {
  const source = await openFull(t)
  const target = await openAt(t, await targets.SQLite(t))
  return { source, target, ends: { source: source.store, target: target.store } }
}

function different({ tables }: Verification): string[] {
  return tables.filter(({ isSame }) => !isSame).map(({ table }) => table)
}

/** The store, which calls `happen` before it reads each page. */
function before(store: Store, happen: (table: TransferTable) => Promise<void>): Store {
  return {
    ...store,
    transfer: {
      ...store.transfer,
      async read(table, after, limit) {
        await happen(table)
        return store.transfer.read(table, after, limit)
      },
    },
  }
}

async function readEverything(store: Store): Promise<unknown> {
  const fixture = new Fixture()
  fixture.use(store)
  const found: unknown[] = [await store.organisations.list()]
  for (const tracker of everyTracker) {
    found.push(await store.trackers.list(tracker.organisationId))
    found.push(await store.apiKeys.list(tracker.organisationId))
    found.push(await fixture.readAll(tracker, 3), await store.dailyTotals.list(tracker, -1e6, 1e6))
  }
  return found
}

describe('a copy', () => {
  for (const [engine, addressFor] of Object.entries(targets)) {
    it(`in ${engine} has the same rows and responses, and is identical when it is copied back`, async (t) => {
      const source = await openFull(t)
      const target = await openAt(t, await addressFor(t))
      const steps: Record<string, number> = {}
      const { copiedRows, verification } = await copyStore(
        { source: source.store, target: target.store },
        {
          onRows(step, count) {
            steps[step] = (steps[step] ?? 0) + count
          },
        },
      )
      assert.deepEqual(different(verification), [])
      assert.deepEqual(await rowsAt(target.address), await rowsAt(source.address))
      assert.deepEqual(await readEverything(target.store), await readEverything(source.store))
      assert.equal(copiedRows, await countRows(source.store.transfer))
      assert.deepEqual(steps, { copying: copiedRows, verifying: 2 * copiedRows })
      const back = await openAt(t, await emptyStore(t))
      await copyStore({ source: target.store, target: back.store }, quietly)
      assert.deepEqual(await rowsAt(back.address), await rowsAt(source.address))
      const { scrub } = await verifyCopy({ source: source.store, target: back.store }, quietly)
      assert.deepEqual(scrub.target, scrub.source)
    })
  }

  it('has a due scrub if the source has one', async (t) => {
    const { source, target, ends } = await fullAndEmpty(t)
    assert.equal((await verifyCopy(ends, quietly)).scrub.isSame, false)
    assert.equal((await copyStore(ends, quietly)).verification.scrub.isSame, true)
    const state = await target.store.maintenance.scrubState()
    assert.equal(state.isDue, true)
    assert.deepEqual(state, await source.store.maintenance.scrubState())
  })

  it('of an empty store is empty', async (t) => {
    const ends = {
      source: (await openAt(t, await emptyStore(t))).store,
      target: (await openAt(t, await emptyStore(t))).store,
    }
    const { copiedRows, verification } = await copyStore(ends, quietly)
    assert.equal(copiedRows, 0)
    assert.deepEqual(different(verification), [])
  })
})

describe('a second copy', () => {
  it('copies nothing, and verifies everything', async (t) => {
    const { ends } = await fullAndEmpty(t)
    const first = await copyStore(ends, quietly)
    const second = await copyStore(ends, quietly)
    assert.equal(second.copiedRows, 0)
    assert.deepEqual(second.verification, first.verification)
  })

  it('continues after the existing rows if the first one was interrupted', async (t) => {
    const { source, target, ends } = await fullAndEmpty(t)
    const rows = await countRows(source.store.transfer)
    let copied = 0
    for (let times = 0; ; times++) {
      const stopping = new AbortController()
      const reason = new Error('stopped')
      try {
        await copyStore(ends, {
          signal: stopping.signal,
          onRows(step, count) {
            if (step !== 'copying') return
            copied += count
            stopping.abort(reason)
          },
        })
        break
      } catch (error) {
        assert.equal(error, reason)
        assert.ok(times < rows, 'it comes to an end')
      }
    }
    assert.equal(copied, rows, 'no row was copied twice')
    assert.deepEqual(await rowsAt(target.address), await rowsAt(source.address))
  })

  it('is refused without changes if the source has changed', async (t) => {
    const { source, target, ends } = await fullAndEmpty(t)
    await copyStore(ends, quietly)
    await eraseIn(source.store, everyTracker[0] ?? assert.fail(), 'ä')
    const held = await rowsAt(target.address)
    await assert.rejects(copyStore(ends, quietly), {
      code: 'invalid_request',
      message: /differs from the source in tombstones\. Nothing was changed/,
    })
    assert.deepEqual(await rowsAt(target.address), held)
    assert.deepEqual(different(await verifyCopy(ends, quietly)), [
      ...['subjects', 'sessions', 'events', 'identifiers', 'tombstones', 'ledger_entries'],
    ])
  })
})

describe('a target that is not empty', () => {
  it('is refused without changes if it has other data', async (t) => {
    const { target, ends } = await fullAndEmpty(t)
    const other = { id: 'other', name: 'Other', plan: 'free', createdAt: 1 } as const
    await target.store.organisations.create(other)
    const held = await rowsAt(target.address)
    await assert.rejects(copyStore(ends, quietly), /differs from the source in organisations/)
    assert.deepEqual(await rowsAt(target.address), held)
  })

  it('is refused if it has more rows than the source, even only at the end', async (t) => {
    const { target, ends } = await fullAndEmpty(t)
    await copyStore(ends, quietly)
    await target.store.organisations.create({ id: '\u{10ffff}', name: 'Z', plan: 'free', createdAt: 1 })
    await assert.rejects(copyStore(ends, quietly), /differs from the source in organisations/)
  })

  it('is refused if one value differs', async (t) => {
    const { target, ends } = await fullAndEmpty(t)
    await copyStore(ends, quietly)
    await target.store.apiKeys.touch(new Map([['active', 7]]))
    await assert.rejects(copyStore(ends, quietly), /differs from the source in api_keys/)
  })
})

describe('a change of the source during a copy', () => {
  const shop = everyTracker[0] ?? assert.fail()

  it('is detected if it erases a subject that was already copied', async (t) => {
    const { source, target } = await fullAndEmpty(t)
    let wasErased = false
    const changing = before(source.store, async ({ name }) => {
      if (wasErased || name !== 'daily_events' || (await target.store.subjects.read(shop, 'ä')) === null)
        return
      wasErased = true
      assert.deepEqual(await eraseIn(source.store, shop, 'ä'), { sessions: 3, events: 3 })
    })
    const { verification } = await copyStore({ source: changing, target: target.store }, quietly)
    assert.deepEqual(different(verification), ['subjects', 'sessions', 'events', 'identifiers'])
  })

  for (const moment of ['sessions', 'subjects', 'organisations']) {
    it(`is detected if it erases a subject while the comparison has reached ${moment}`, async (t) => {
      const { source, target } = await fullAndEmpty(t)
      await copyStore({ source: source.store, target: target.store }, quietly)
      let wasErased = false
      const changing = before(source.store, async ({ name }) => {
        if (wasErased || name !== moment) return
        wasErased = true
        await eraseIn(source.store, shop, 'ä')
      })
      const ends = { source: changing, target: target.store }
      assert.ok(different(await verifyCopy(ends, quietly)).includes('subjects'))
    })
  }

  it('is detected if it adds an event of a subject that was already copied', async (t) => {
    const { source, target } = await fullAndEmpty(t)
    let wasChanged = false
    const changing = before(source.store, async ({ name }) => {
      if (wasChanged || name !== 'daily_events' || (await target.store.subjects.read(shop, 'ä')) === null)
        return
      wasChanged = true
      const { trackerId } = shop
      await source.store.ingest.ingest(
        [
          {
            type: 'event',
            trackerId,
            subjectId: 'ä',
            sessionId: 'new',
            eventId: 'n',
            name: 'n',
            occurredAt: 1,
            properties: {},
          },
        ],
        await unrelatedKeys(source.store),
      )
    })
    const { verification } = await copyStore({ source: changing, target: target.store }, quietly)
    assert.ok(different(verification).includes('events'))
  })
})
