import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  columnsOf,
  looksLikeAddresses,
  readTextFile,
  suggestedColumn,
} from '../../console/src/pages/list-columns.ts'

describe('the columns of a file', () => {
  test('are those of its first line, with any separator and line ending', () => {
    for (const separator of [',', ';', '\t'])
      for (const end of ['\n', '\r\n', '\r'])
        assert.deepEqual(columnsOf(`\ufeffname${separator} "E-""Mail""" ${separator}id${end}a;b,c\td`), [
          ...['name', 'E-"Mail"', 'id'],
        ])
    assert.deepEqual(columnsOf('"name, first";"id"'), ['name, first', 'id'])
    assert.equal(suggestedColumn('name,Visitor id\n'), 'Visitor id')
  })
})

describe('a file', () => {
  const read = (bytes: Buffer<ArrayBuffer>) => readTextFile(new Blob([bytes]))

  test('is read as UTF-8, or as UTF-16 with a byte order mark', async () => {
    const text = 'name\tid\r\nÀnna\tà'
    for (const bytes of [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    ])
      assert.deepEqual(await read(bytes), { text })
  })

  test('is rejected if it is other text or too large', async () => {
    for (const bytes of [
      Buffer.from('Ànna', 'latin1'),
      Buffer.from('Ànna', 'utf16le'),
      Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0xff]),
    ])
      assert.match(JSON.stringify(await read(bytes)), /problem.*UTF-8/)
    assert.match(JSON.stringify(await read(Buffer.alloc(5_000_000, 'a'))), /problem.*4 MiB/)
  })
})

describe('a list of e-mail addresses', () => {
  test('is recognised by most of its lines, or by the name of a column', () => {
    assert.equal(looksLikeAddresses('ada@example.com\r\n\n ben@example.com \nvisitor-1', null), true)
    assert.equal(looksLikeAddresses('visitor-1\nvisitor-2\nada@example.com', null), false)
    assert.equal(looksLikeAddresses('', null), false)
    assert.equal(looksLikeAddresses('id,mail\n1,ada@example.com', 'id'), false)
    assert.equal(looksLikeAddresses('id,mail\n1,ada@example.com', 'mail'), true)
  })
})
