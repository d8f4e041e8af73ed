import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flat, read } from './markdown.ts'

const page = flat(read('docs/reference/versioning.md'))

test('the versioning page lists deprecations like the OpenAPI document', () => {
  const isDeprecated = /"deprecated": true/.test(read('openapi/v1.json'))
  assert.equal(page.includes('Nothing is deprecated today'), !isDeprecated)
})

test('the example headers follow their standards', () => {
  const [, deprecated = ''] = /`Deprecation: @(\d+)`/.exec(page) ?? []
  const [, sunset = ''] = /`Sunset: ([^`]+)`/.exec(page) ?? []
  assert.equal(new Date(sunset).toUTCString(), sunset)
  // At least a year apart, as the page says.
  assert.ok(Date.parse(sunset) - Number(deprecated) * 1_000 >= 365 * 86_400_000)
})
