import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openReader, openWriter, snapshot, transaction } from '../../../src/storage/sqlite/connection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

function pragma(db: DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}

describe('the connection that writes', () => {
  it('is durable, enforces references and overwrites what it deletes', (t) => {
    const db = openWriter(join(temporaryFolder(t), 'lethe.db'))
    assert.equal(pragma(db, 'journal_mode'), 'wal')
    assert.equal(pragma(db, 'synchronous'), 2)
    assert.equal(pragma(db, 'foreign_keys'), 1)
    assert.equal(pragma(db, 'secure_delete'), 1)
    assert.equal(pragma(db, 'busy_timeout'), 15_000)
    db.close()
  })

  it('waits for another that is creating the same file', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const other = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
       const { DatabaseSync } = require('node:sqlite')
       const db = new DatabaseSync(workerData, { timeout: 15_000 })
       db.exec('BEGIN IMMEDIATE; CREATE TABLE numbers (number INTEGER NOT NULL) STRICT')
       parentPort.postMessage('locked')
       setTimeout(() => { db.exec('COMMIT'); db.close() }, 200)`,
      { eval: true, workerData: path },
    )
    await once(other, 'message')
    const db = openWriter(path)
    assert.equal(pragma(db, 'journal_mode'), 'wal')
    assert.equal(pragma(db, 'busy_timeout'), 15_000)
    transaction(db, () => db.exec('INSERT INTO numbers VALUES (7)'))
    db.close()
    await once(other, 'exit')
  })

  it('creates its folder and files for their owner only', (t) => {
    const folder = join(temporaryFolder(t), 'data')
    const db = openWriter(join(folder, 'lethe.db'))
    db.exec('CREATE TABLE numbers (number INTEGER NOT NULL) STRICT')
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    for (const suffix of ['', '-wal', '-shm']) {
      assert.equal(statSync(join(folder, `lethe.db${suffix}`)).mode & 0o777, 0o600, `lethe.db${suffix}`)
    }
    db.close()
  })
})

describe('the connection that reads', () => {
  it('cannot write, and sees what others write', (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const writer = openWriter(path)
    writer.exec('CREATE TABLE numbers (number INTEGER NOT NULL) STRICT')
    const reader = openReader(path)
    writer.exec('INSERT INTO numbers VALUES (7)')
    assert.equal(reader.prepare('SELECT number FROM numbers').get()?.number, 7)
    assert.throws(() => reader.exec('INSERT INTO numbers VALUES (8)'), /readonly/)
    reader.close()
    writer.close()
  })
})

describe('a transaction', () => {
  function table(path: string): DatabaseSync {
    const db = openWriter(path)
    db.exec('CREATE TABLE numbers (number INTEGER NOT NULL) STRICT')
    return db
  }
  const count = (db: DatabaseSync) => db.prepare('SELECT count(*) AS n FROM numbers').get()?.n

  it('returns the result of its work, and commits', (t) => {
    const db = table(join(temporaryFolder(t), 'lethe.db'))
    const result = transaction(db, () => {
      db.exec('INSERT INTO numbers VALUES (1)')
      return 'done'
    })
    assert.equal(result, 'done')
    assert.equal(db.isTransaction, false)
    assert.equal(count(db), 1)
    db.close()
  })

  it('rolls back if its work throws, and can be followed by another', (t) => {
    const db = table(join(temporaryFolder(t), 'lethe.db'))
    const work = () => {
      db.exec('INSERT INTO numbers VALUES (1)')
      db.exec('INSERT INTO numbers VALUES (NULL)')
    }
    assert.throws(() => transaction(db, work), /NOT NULL/)
    assert.equal(db.isTransaction, false)
    assert.equal(count(db), 0)
    transaction(db, () => db.exec('INSERT INTO numbers VALUES (2)'))
    assert.equal(count(db), 1)
    db.close()
  })
})

describe('a snapshot', () => {
  it('whose transaction SQLite ended after a failed read fails with that error only', (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    openWriter(path).close()
    const db = openReader(path)
    t.after(() => db.close())
    const failedRead = () => {
      db.exec('ROLLBACK')
      throw new Error('disk I/O error')
    }
    assert.throws(() => snapshot(db, failedRead), /^Error: disk I\/O error$/)
    assert.equal(
      snapshot(db, () => {
        assert.throws(failedRead, /disk I\/O error/)
        return 'the next read'
      }),
      'the next read',
    )
    assert.equal(db.isTransaction, false)
  })
})
