import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresOnly, statement, valuesOf } from '../../src/storage/nouns/statement.ts'

test('a shared statement runs on SQLite even if only PostgreSQL has one with the same text', () => {
  const source = 'SELECT id FROM organisations WHERE id = :id FOR UPDATE'
  assert.equal(postgresOnly(source).sqlite, null)
  assert.equal(statement(source).sqlite, 'SELECT id FROM organisations WHERE id = ?1')
  assert.equal(statement(source), statement(source))
})

test('a statement without a value for one of its parameters is not sent', () => {
  const update = statement('UPDATE trackers SET name = :name WHERE id = :id')
  assert.throws(() => valuesOf(update, { id: 'shop' }, (value) => value), /name/)
})
