import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openStore, parseStoreAddress } from '../../src/storage/open-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the address of a store', () => {
  it('names a file of the embedded engine', () => {
    for (const path of ['lethe.db', 'data/lethe.db', '/var/lib/lethe.db', '../a b/läden.db']) {
      assert.deepEqual(parseStoreAddress(`sqlite:${path}`), { engine: 'sqlite', path })
    }
  })

  it('may name a drive on Windows', () => {
    for (const path of [
      'C:\\data\\lethe.db',
      'c:/data/lethe.db',
      'data\\lethe.db',
      '\\\\server\\share\\lethe.db',
    ]) {
      assert.deepEqual(parseStoreAddress(`sqlite:${path}`, 'win32'), { engine: 'sqlite', path })
    }
    for (const path of ['C:lethe.db', 'C:', ':memory:', 'CD:\\lethe.db', 'C:\\a:b', 'C:\\a?b']) {
      assert.equal(parseStoreAddress(`sqlite:${path}`, 'win32'), null, path)
    }
    assert.equal(parseStoreAddress('sqlite:C:\\data\\lethe.db', 'linux'), null)
  })

  for (const text of [
    ...['', 'lethe.db', 'sqlite', 'sqlite:', 'SQLITE:a.db', ' sqlite:a.db', 'mysql://host/a'],
    ...['sqlite::memory:'],
  ]) {
    it(`is not "${text}"`, () => assert.equal(parseStoreAddress(text), null))
  }

  it('opens the store it names', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const address = parseStoreAddress(`sqlite:${path}`)
    assert.ok(address)
    const store = await openStore(address, { create: true })
    await store.ping()
    await store.close()
    assert.ok(existsSync(path))
  })
})
