import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxConnections } from '../../src/storage/postgres/connect.ts'
import { read } from './markdown.ts'

const page = read('docs/reference/postgres.md')

test('the page about PostgreSQL lists the connections of a process, and states their number', () => {
  const listed = [...page.matchAll(/^ {2}\| .+ \| \d+ \| (\d+)(?:, while .+)? \|$/gm)].map(([, most]) =>
    Number(most),
  )
  assert.deepEqual(listed, Object.values(maxConnections))
  const all = String(listed.reduce((sum, count) => sum + count))
  const stated = [...page.matchAll(/(?:opens up to|at least) (\d+)/g)].map(([, number]) => number)
  assert.deepEqual(stated, [all, all, all])
})
