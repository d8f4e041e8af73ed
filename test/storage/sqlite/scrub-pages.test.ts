import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import {
  DamagedPage,
  rawHandle,
  scrubPages,
  unusedBytes,
  writeAt,
} from '../../../src/storage/sqlite/scrub-pages.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { value } from './open-shop.ts'

const marks = /<(\d{6})>/g
const trace = Buffer.from('<999999>')

/** A row's text, from a few bytes to many pages long. Each part of it identifies the row. */
function textOf(random: SeededRandom, number: number): string {
  const mark = `<${String(number).padStart(6, '0')}>`
  const repeats = random.integer(30) === 0 ? 1 + random.integer(400) : 1 + random.integer(8)
  return mark.repeat(repeats)
}

/** A database with every kind of b-tree, with random inserts, updates and deletions. */
function usedDatabase(t: TestContext, random: SeededRandom, pageSize: number) {
  const path = join(temporaryFolder(t), 'lethe.db')
  const made = new DatabaseSync(path)
  made.exec(`PRAGMA page_size = ${pageSize}`)
  made.exec('PRAGMA journal_mode = WAL')
  made.close()
  const db = openWriter(path)
  t.after(() => db.close())
  db.exec('CREATE TABLE scrubs (deletions INTEGER NOT NULL) STRICT; INSERT INTO scrubs VALUES (0)')
  const tables = ['by_rowid', 'by_key']
  db.exec('CREATE TABLE by_rowid (key TEXT, number INTEGER, text TEXT) STRICT')
  db.exec('CREATE INDEX by_rowid_by_text ON by_rowid (text, number)')
  db.exec('CREATE TABLE by_key (key TEXT PRIMARY KEY, number INTEGER, text TEXT) STRICT, WITHOUT ROWID')
  for (const table of tables) db.exec(`CREATE INDEX ${table}_by_number ON ${table} (number, key)`)
  const add = tables.map((table) => db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?)`))
  const remove = tables.map((table) => db.prepare(`DELETE FROM ${table} WHERE number = ?`))
  const change = tables.map((table) => db.prepare(`UPDATE ${table} SET text = ? WHERE number = ?`))
  const left = new Set<number>()
  for (let number = 0; number < 800; number++) {
    if (number % 100 === 0) db.exec(number === 0 ? 'BEGIN' : 'COMMIT; BEGIN')
    left.add(number)
    const [key, text] = [`${random.integer(1e9)} ${textOf(random, number)}`, textOf(random, number)]
    for (const statement of add) statement.run(key, number, text)
    const other = random.integer(number + 1)
    if (random.integer(3) > 0) {
      left.delete(other)
      for (const statement of remove) statement.run(other)
    } else {
      for (const statement of change) statement.run(textOf(random, other), other)
    }
  }
  db.exec('COMMIT')
  return { path, db, left, contents: () => tables.map((table) => db.prepare(`SELECT * FROM ${table}`).all()) }
}

/** Writes a text that no row holds into all unused bytes that have room for it. */
function plantTraces(path: string, db: DatabaseSync): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = readFileSync(path)
  const pageSize = Number(value(path, 'PRAGMA page_size'))
  let planted = 0
  for (let page = 0; page < bytes.length / pageSize; page++) {
    const offset = page * pageSize
    for (const { start, end } of unusedBytes(bytes.subarray(offset, offset + pageSize), page + 1)) {
      if (end - start < trace.length) continue
      writeAt(rawHandle(path), trace, offset + end - trace.length)
      planted++
    }
  }
  assert.ok(planted > 10, `${planted} traces`)
}

function scrubAll(path: string): void {
  const pages = Number(value(path, 'PRAGMA page_count'))
  for (let next: number | null = 1; next <= pages; ) {
    next = scrubPages(path, rawHandle(path), next, pages)
    assert.ok(next !== null)
  }
  assert.equal(value(path, 'PRAGMA wal_checkpoint(TRUNCATE)'), 0)
}

function marksIn(path: string): Set<number> {
  const bytes = Buffer.concat([readFileSync(path), readFileSync(`${path}-wal`)])
  return new Set([...bytes.toString('latin1').matchAll(marks)].map(([, number]) => Number(number)))
}

describe('the unused bytes of a database’s pages', () => {
  for (const pageSize of [512, 4_096, 65_536]) {
    it(`are all that is left of deleted rows, and can be overwritten: pages of ${pageSize} bytes`, (t) => {
      const random = seededRandom()
      const { path, db, left, contents } = usedDatabase(t, random, pageSize)
      assert.equal(value(path, 'PRAGMA page_size'), pageSize)
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      const residue = [...marksIn(path)].filter((number) => !left.has(number))
      t.diagnostic(`LETHE_TEST_SEED=${random.seed}: ${residue.length} rows left traces`)
      plantTraces(path, db)
      const before = contents()
      scrubAll(path)
      assert.deepEqual(marksIn(path), left)
      assert.deepEqual(contents(), before)
      assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
    })
  }

  it('do not come back from pages that another connection reads meanwhile and then writes', (t) => {
    const { path, db, left, contents } = usedDatabase(t, seededRandom(), 4_096)
    plantTraces(path, db)
    const before = contents()
    const { exec } = DatabaseSync.prototype
    let reads = 0
    const mock = t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
      exec.call(this, sql)
      // From here on, no one can write, and readers still see the original pages.
      if (sql === 'BEGIN IMMEDIATE' && ++reads) contents()
    })
    const pages = Number(value(path, 'PRAGMA page_count'))
    assert.equal(scrubPages(path, rawHandle(path), 1, pages), pages + 1)
    mock.mock.restore()
    assert.equal(reads, 1)
    for (const table of ['by_rowid', 'by_key']) db.exec(`UPDATE ${table} SET number = number + 1`)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    assert.deepEqual(marksIn(path), left)
    for (const table of ['by_rowid', 'by_key']) db.exec(`UPDATE ${table} SET number = number - 1`)
    assert.deepEqual(contents(), before)
  })
})

describe('a malformed page', () => {
  const leaf = (change: (page: Buffer) => void) => {
    const page = Buffer.alloc(512)
    // Two cells at its end, with a free block of eight bytes between them.
    page.set([13, 0x01, 0xf0, 0, 2, 0x01, 0xe0, 0, 0x01, 0xe0, 0x01, 0xf8])
    page.writeUInt16BE(8, 0x1f2)
    change(page)
    return page
  }

  it('is refused, with nothing to overwrite', () => {
    assert.deepEqual(
      unusedBytes(
        leaf(() => {}),
        2,
      ),
      [
        { start: 12, end: 0x1e0 },
        { start: 0x1f4, end: 0x1f8 },
      ],
    )
    const damages: [what: string, change: (page: Buffer) => void][] = [
      ['more cells than there is room', (page) => page.writeUInt16BE(300, 3)],
      ['content that starts after its end', (page) => page.writeUInt16BE(600, 5)],
      ['a cell in the gap', (page) => page.writeUInt16BE(0x100, 8)],
      ['a cell after the end', (page) => page.writeUInt16BE(512, 10)],
      ['a cell in a free block', (page) => page.writeUInt16BE(0x1f4, 10)],
      ['a free block in the gap', (page) => page.writeUInt16BE(0x100, 1)],
      ['a free block after the end', (page) => page.writeUInt16BE(511, 1)],
      ['a free block too long', (page) => page.writeUInt16BE(200, 0x1f2)],
      ['a free block too short', (page) => page.writeUInt16BE(3, 0x1f2)],
      ['a cycle of free blocks', (page) => page.writeUInt16BE(0x1f0, 0x1f0)],
    ]
    for (const [what, change] of damages) assert.throws(() => unusedBytes(leaf(change), 2), DamagedPage, what)
  })

  it('is not a b-tree page if it starts with anything else', () => {
    const page = Buffer.alloc(512, 0xff)
    for (let first = 0; first < 256; first++) {
      if ([2, 5, 10, 13].includes(first)) continue
      page[0] = first
      assert.deepEqual(unusedBytes(page, 2), [])
    }
  })
})
