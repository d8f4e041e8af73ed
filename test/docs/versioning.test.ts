import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flat, read } from './markdown.ts'

const page = flat(read('docs/reference/versioning.md'))

test('the page of promises says that nothing is deprecated for as long as the document does', () => {
  const isDeprecated = /"deprecated": true/.test(read('openapi/v1.json'))
  assert.equal(page.includes('Nothing is deprecated today'), !isDeprecated)
})

test('its examples of headers are as their standards write them', () => {
  const [, deprecated = ''] = /`Deprecation: @(\d+)`/.exec(page) ?? []
  const [, sunset = ''] = /`Sunset: ([^`]+)`/.exec(page) ?? []
  assert.equal(new Date(sunset).toUTCString(), sunset)
  // A year between them, as the page says.
  assert.ok(Date.parse(sunset) - Number(deprecated) * 1_000 >= 365 * 86_400_000)
})
