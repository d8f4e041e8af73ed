import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { earliestInstant } from '../../src/domain/instant.ts'
import { subjectKey } from '../../src/domain/subject.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { createOrganisation } from '../../src/operations/organisation.ts'
import { createTracker } from '../../src/operations/tracker.ts'
import { readPages } from '../../src/operations/verify-copy.ts'
import { openServices } from '../../src/start.ts'
import { freshStore } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import type { Lifetime } from '../support/service.ts'
import { visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testSecret, testSecretFile } from '../support/test-keyring.ts'
import { guessErased, type Loot } from './guess-erased.ts'

const erased = ['ada@example.com', 'visitor-1']
const others = ['ben@example.com']
const organisationIds = ['acme', 'umbrella']
const trackerIds = ['acme-shop', 'umbrella-shop']

/**
 * A store with erasures of the same people in several trackers, one of them twice, as an attacker gets it.
 */
async function steal(t: Lifetime, address: string): Promise<Loot> {
  const journal = join(temporaryFolder(t), 'journal')
  const env = { LETHE_STORE: address, LETHE_SECRET_FILE: testSecretFile(), LETHE_JOURNAL: journal }
  const services = await openServices(readConfig(env), { create: true, writesHere: true })
  t.after(() => services.close())
  for (const id of organisationIds) await createOrganisation(services, { name: id, id })
  for (const id of trackerIds) {
    const organisationId = id.split('-')[0] ?? ''
    await createTracker(services, { organisationId, name: id, id })
    const rows = [...erased, 'somebody-else'].flatMap((subjectId) => visit(subjectId, { trackerId: id }))
    await services.ingest.ingest(rows, services.keyring.tombstoneKeys)
    const view = { organisationId, trackerId: id, since: earliestInstant }
    for (const subjectId of [...erased, 'visitor-1']) await eraseSubject(services, view, subjectId)
  }
  await services.maintenance.scrub(Date.now())
  const values: Loot['values'][number][] = []
  for (const table of services.transfer.tables) {
    for await (const rows of readPages(services.transfer, table)) {
      for (const value of rows.flat()) {
        if (value !== null) values.push(typeof value === 'number' ? String(value) : value)
      }
    }
  }
  values.push(...readFileSync(journal, 'utf8').split('\n'))
  return { values, organisationIds, trackerIds, candidates: [...erased, ...others] }
}

const lifetime = inReverse({ after })
const folder = temporaryFolder(lifetime)
const engines: Record<string, () => Promise<string>> = {
  SQLite: async () => `sqlite:${join(folder, 'lethe.db')}`,
  PostgreSQL: () => freshStore(lifetime),
}

for (const [engine, address] of Object.entries(engines)) {
  describe(`a stolen store on ${engine}, with its journal,`, () => {
    let loot: Loot
    before(async () => {
      loot = await steal(lifetime, await address())
    })

    it('reveals who was erased only with the secret', () => {
      assert.deepEqual([...guessErased(loot)], [])
      assert.deepEqual([...guessErased(loot, [testSecret()])], erased)
    })

    it('links no person across two trackers, and no two ledger entries of one person', () => {
      const { values } = loot
      const records = values.filter(
        (value) => typeof value === 'string' && value.startsWith('{"alreadyErased"'),
      )
      assert.equal(records.length, 3 * trackerIds.length)
      const subjects = records.map((record) => JSON.parse(String(record)).subject)
      assert.equal(new Set(subjects).size, subjects.length)
      const tombstones = values
        .map((value) => /"digest":"([^"]+)"/.exec(String(value))?.[1])
        .filter((digest) => digest !== undefined)
      // The store links erasures of one person in a tracker, because imports must recognise the person.
      assert.equal(new Set(tombstones).size, erased.length * trackerIds.length)
    })
  })
}

describe('the files of a stolen store on SQLite', () => {
  it('hold neither an erased ID nor the key under which it was stored', () => {
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name))
      for (const subjectId of erased) {
        assert.ok(!bytes.includes(subjectId), `${subjectId} is in ${name}`)
        for (const trackerId of trackerIds) {
          assert.ok(
            !bytes.includes(subjectKey(trackerId, subjectId)),
            `the key of ${subjectId} is in ${name}`,
          )
        }
      }
    }
    const live = trackerIds.map((trackerId) => subjectKey(trackerId, 'somebody-else'))
    const all = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))))
    for (const key of live) assert.ok(all.includes(key), 'this is how they would be found')
  })
})
