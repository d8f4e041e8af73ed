import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { areas, keyStringPattern, maxKeyNameLength, readKeyId, scopes } from '../../src/domain/api-key.ts'
import { base62Alphabet } from '../../src/domain/randomness.ts'
import { blocks, code, flat, markdownFiles, read, section, tableRows } from './markdown.ts'

const page = read('docs/reference/keys.md')
const text = flat(page)
const keyStrings = (page: string) => page.match(/lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}/g) ?? []

test('the keys page lists exactly the scopes, with what they allow', () => {
  assert.deepEqual(
    tableRows(section(page, 'Scopes')).map(([scope, allows]) => [code(scope), allows]),
    Object.entries(scopes),
  )
})

test('the keys page lists every area', () => {
  const listed = /The areas are ([^;]+);/.exec(text)?.[1]?.split(/, | and /)
  assert.deepEqual(listed, [...areas])
})

test('the regular expression for scanners matches that of the program', () => {
  assert.deepEqual(
    blocks(page, 'regex').map((text) => text.trim()),
    [keyStringPattern.source],
  )
})

test('the example key has the checksum that the page explains', () => {
  const [example = '', ...others] = new Set(keyStrings(page))
  assert.deepEqual(others, [])
  assert.equal(readKeyId(example), '0123456789ABCDEF')
  const body = example.slice(0, -6)
  const [, decimal, hexadecimal, checksum] = /CRC-32 is (\d+) \(0x(\w+)\), which is `(\w+)`/.exec(text) ?? []
  assert.equal(Number(decimal), crc32(body))
  assert.equal(hexadecimal, crc32(body).toString(16))
  assert.equal(checksum, example.slice(-6))
  assert.match(text, new RegExp(`, ${body.length} ASCII bytes`))
})

test('the program for scanners uses the digits of keys', () => {
  assert.equal(/DIGITS = "(\w+)"/.exec(blocks(page, 'python').join(''))?.[1], base62Alphabet)
})

test('the keys page states the maximum length of a name', () => {
  assert.match(text, new RegExp(`1 to ${maxKeyNameLength} characters`))
})

test('no other page shows a complete key', () => {
  for (const file of markdownFiles()) {
    if (file !== 'docs/reference/keys.md') assert.deepEqual(keyStrings(read(file)), [], file)
  }
})
