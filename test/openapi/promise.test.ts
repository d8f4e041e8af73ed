import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { breakingChanges } from '../../scripts/openapi/breaking-changes.ts'
import { readConfig } from '../../src/config.ts'
import { openApiDocument } from '../../src/http/api/openapi/document.ts'

function read(name: string) {
  return JSON.parse(readFileSync(new URL(`../../openapi/${name}`, import.meta.url), 'utf8'))
}

test('the committed document matches the source', () => {
  assert.deepEqual(read('v1.json'), JSON.parse(JSON.stringify(openApiDocument(readConfig({})))))
})

test('a client of the original /v1 document still works', () => {
  assert.deepEqual(breakingChanges(read('v1.promised.json'), read('v1.json')), [])
})
