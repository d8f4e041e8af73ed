import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openReader, openWriter } from '../../../src/storage/sqlite/connection.ts'
import { cacheUntilWrite } from '../../../src/storage/sqlite/connections.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A table of names, a cached look-up, and the number of its queries. */
function open(t: TestContext) {
  const path = join(temporaryFolder(t), 'lethe.db')
  const [writer, other] = [openWriter(path), openWriter(path)]
  writer.exec('CREATE TABLE names (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT')
  const reader = openReader(path)
  t.after(() => {
    for (const db of [reader, writer, other]) db.close()
  })
  const select = reader.prepare('SELECT name FROM names WHERE id = ?')
  const looks: string[] = []
  const find = cacheUntilWrite(reader)((id) => {
    looks.push(id)
    return select.get(id)?.name ?? null
  })
  return { writer, other, find, looks }
}

describe('a cached look-up', () => {
  it('queries once while nobody writes, for existing and missing rows', (t) => {
    const { writer, find, looks } = open(t)
    writer.exec(`INSERT INTO names VALUES ('a', 'Anna')`)
    for (let i = 0; i < 3; i++) {
      assert.equal(find('a'), 'Anna')
      assert.equal(find('b'), null)
    }
    assert.deepEqual(looks, ['a', 'b'])
  })

  it('sees every change at the next look-up, whichever connection made it', (t) => {
    const { writer, other, find } = open(t)
    assert.equal(find('a'), null)
    writer.exec(`INSERT INTO names VALUES ('a', 'Anna')`)
    assert.equal(find('a'), 'Anna')
    for (let i = 0; i < 100; i++) {
      const db = i % 2 ? writer : other
      db.exec(`UPDATE names SET name = 'Anna ${i}'`)
      assert.equal(find('a'), `Anna ${i}`)
    }
    other.exec('DELETE FROM names')
    assert.equal(find('a'), null)
  })

  it('does not see what is not committed yet', (t) => {
    const { writer, find } = open(t)
    writer.exec(`INSERT INTO names VALUES ('a', 'Anna')`)
    writer.exec(`BEGIN; UPDATE names SET name = 'Ben'`)
    assert.equal(find('a'), 'Anna')
    writer.exec('COMMIT')
    assert.equal(find('a'), 'Ben')
  })

  it('sees a change when the log has been emptied meanwhile', (t) => {
    const { writer, find } = open(t)
    assert.equal(find('a'), null)
    writer.exec(`INSERT INTO names VALUES ('a', 'Anna'); PRAGMA wal_checkpoint(TRUNCATE)`)
    assert.equal(find('a'), 'Anna')
    writer.exec('DELETE FROM names; PRAGMA wal_checkpoint(TRUNCATE)')
    assert.equal(find('a'), null)
  })

  it('has a size limit', (t) => {
    const { find, looks } = open(t)
    for (let i = 0; i < 10_001; i++) find(`id-${i}`)
    looks.length = 0
    find('id-10000')
    find('id-0')
    assert.deepEqual(looks, ['id-0'])
  })
})
