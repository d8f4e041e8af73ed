import assert from 'node:assert/strict'
import { renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { isEntry } from '../../src/domain/journal-line.ts'
import type { Store } from '../../src/domain/store.ts'
import { FileJournal } from '../../src/journal.ts'
import { createKey, revokeKey } from '../../src/operations/api-key.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { LedgerJournal, openJournal } from '../../src/operations/journal.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { always } from '../support/rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testKeyring } from '../support/test-keyring.ts'
import { defaultPolicy } from '../support/windows.ts'

const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

const engines: Record<string, (t: TestContext) => Promise<string>> = {
  SQLite: async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`,
  PostgreSQL: freshStore,
}

/** The content of each line: the index of an entry, or the kind of another change. */
async function told(place: string): Promise<(number | string)[]> {
  const all: (number | string)[] = []
  for await (const line of new FileJournal(place).read()) all.push(isEntry(line) ? line.index : line.kind)
  return all
}

for (const [engine, address] of Object.entries(engines)) {
  describe(`the journal of a store on ${engine}`, () => {
    async function open(t: TestContext) {
      const store = await openStoreAt(await address(t), { writesHere: true })
      t.after(() => store.close())
      await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
      await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
      const place = join(temporaryFolder(t), 'lethe.journal')
      let now = 1_000
      const parts = { randomness: systemRandomness, keyring: testKeyring, clock: () => ++now }
      /** Opens it like another process. */
      async function start(read: Partial<Store> = {}) {
        const journal = new LedgerJournal(new FileJournal(place), { ...store, ...read })
        const deps = { ...store, ...defaultPolicy, ...parts, journal }
        await openJournal(journal, deps)
        const erase = (subjectId: string) => eraseSubject(deps, tracker, subjectId)
        let keys = 0
        async function revoke() {
          const wanted = { organisationId: 'acme', scopes: ['analytics:view'], expiresAt: null }
          const { key } = await createKey(deps, { ...wanted, name: `key ${++keys} ${engine}` })
          await revokeKey(deps, key.id, key.name)
        }
        return { journal, erase, revoke }
      }
      return { store, place, start }
    }

    const ways: Record<string, (place: string) => void> = {
      'moved away': (place) => renameSync(place, `${place}.old`),
      removed: (place) => rmSync(place),
      cut: (place) => truncateSync(place),
    }
    for (const [way, takeAway] of Object.entries(ways)) {
      it(`is completed with the next line after it was ${way} while the service runs`, async (t) => {
        const { place, start } = await open(t)
        const { erase, revoke } = await start()
        for (const id of ['anna', 'ben']) await erase(id)
        await revoke()
        takeAway(place)
        await erase('cleo')
        assert.deepEqual(await told(place), [0, 1, 'revocation', 2])
        takeAway(place)
        await revoke()
        await erase('dora')
        const changes = await told(place)
        assert.deepEqual(changes.filter(Number.isInteger), [0, 1, 2, 3])
        assert.equal(changes.length, 6)
      })
    }

    it('continues if another process has recreated it', async (t) => {
      const { place, start } = await open(t)
      const [one, other] = [await start(), await start()]
      await one.erase('anna')
      await other.erase('ben')
      renameSync(place, `${place}.old`)
      await one.erase('cleo')
      await other.erase('dora')
      await one.erase('emil')
      assert.deepEqual(await told(place), [0, 1, 2, 3, 4])
    })

    it('contains a revocation even if the result of an erasure cannot be read yet', async (t) => {
      const { store, place, start } = await open(t)
      let fails = false
      const head: Store['ledger']['head'] = async (organisationId) => {
        if (fails) throw new Error('the store does not answer')
        return store.ledger.head(organisationId)
      }
      const { journal, erase, revoke } = await start({ ledger: { ...store.ledger, head } })
      await erase('anna')
      fails = true
      await journal.checkLedger('acme')
      await assert.rejects(revoke(), /the store does not answer/)
      assert.deepEqual(await told(place), [0, 'revocation'])
      fails = false
      await journal.recover()
      assert.deepEqual(await told(place), [0, 'revocation'])
    })

    it('keeps a line waiting while it cannot be completed', async (t) => {
      const { store, place, start } = await open(t)
      let fails = false
      const list: Store['ledger']['list'] = async (...range) => {
        if (fails) throw new Error('the store does not answer')
        return store.ledger.list(...range)
      }
      const { journal, erase, revoke } = await start({ ledger: { ...store.ledger, list } })
      await erase('anna')
      renameSync(place, `${place}.old`)
      fails = true
      await assert.rejects(revoke(), /the store does not answer/)
      assert.equal(journal.waitingLines(), 1)
      await assert.rejects(journal.recover(), /the store does not answer/)
      fails = false
      await journal.recover()
      assert.equal(journal.waitingLines(), 0)
      assert.deepEqual(await told(place), [0, 'revocation'])
    })
  })
}
