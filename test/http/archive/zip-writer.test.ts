import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32, deflateRawSync } from 'node:zlib'
import {
  dataDescriptor,
  directoryRecord,
  endOfDirectory,
  localHeader,
  type ZipEntry,
} from '../../../src/http/archive/zip-records.ts'
import { ZipWriter } from '../../../src/http/archive/zip-writer.ts'
import { missing } from '../../support/missing.ts'
import { at } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { readZip } from '../../support/zip.ts'

const modifiedAt = at('2026-11-18T21:34:57.000Z')
/** Random bytes barely compress, so this exceeds the buffer. */
const long = randomBytes(300_000).toString('base64')
const texts = { 'records/001-shop.json': long, 'records/002.json': 'ä€😀\n', 'empty.txt': '' }

/** How common programs test an archive and read one file of it. */
const programs: { name: string; args(file: string): string[]; read(file: string, name: string): string[] }[] =
  [
    { name: 'unzip', args: (file) => ['-tqq', file], read: (file, name) => ['-p', file, name] },
    {
      name: 'python3',
      args: (file) => ['-m', 'zipfile', '-t', file],
      read: (file, name) => ['-c', printFile, file, name],
    },
  ]
const printFile = 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())'

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const blocks: Buffer[] = []
  const zip = new ZipWriter(async (block) => {
    blocks.push(block)
  })
  for (const [name, text] of Object.entries(files)) {
    await zip.begin(name, modifiedAt)
    for (let from = 0; from < text.length; from += 7_000) await zip.add(text.slice(from, from + 7_000))
    await zip.end()
  }
  await zip.finish()
  return Buffer.concat(blocks)
}

function check({ name, args }: (typeof programs)[number], file: string): string {
  const { status, stdout, stderr } = spawnSync(name, args(file), { encoding: 'utf8' })
  return status === 0 ? 'complete' : `${status} ${stdout}${stderr}`
}

describe('a ZIP file', () => {
  it('contains its files, of any size, with their names and times', async () => {
    const files = readZip(await archiveOf(texts))
    assert.deepEqual(Object.fromEntries(files.map(({ name, text }) => [name, text])), texts)
    for (const file of files) assert.equal(file.modifiedAt.getTime(), modifiedAt)
  })

  it('cannot be opened if the last byte is missing', async () => {
    const archive = await archiveOf({ 'a.json': '{}', 'b.json': '{"a":1}' })
    for (let length = 0; length < archive.length; length++)
      assert.throws(() => readZip(archive.subarray(0, length)), `${length} of ${archive.length} bytes`)
  })

  for (const program of programs) {
    it(`is complete for ${program.name}, and reported as damaged when truncated`, {
      skip: missing(program.name),
    }, async (t) => {
      const folder = temporaryFolder(t)
      const archive = await archiveOf(texts)
      const [whole, part] = [join(folder, 'whole.zip'), join(folder, 'part.zip')]
      writeFileSync(whole, archive)
      writeFileSync(part, archive.subarray(0, -30))
      assert.equal(check(program, whole), 'complete')
      assert.notEqual(check(program, part), 'complete')
    })
  }

  it('is written no faster than it is read, and rejects with the error of the reader', async () => {
    let taken = 0
    const gate = Promise.withResolvers<void>()
    const zip = new ZipWriter(() => {
      taken += 1
      return gate.promise
    })
    await zip.begin('a.json', modifiedAt)
    let added = 0
    const adding = (async () => {
      for (;;) {
        await zip.add(long)
        added += 1
      }
    })()
    adding.catch(() => {})
    await until(() => taken === 1)
    // Give both sides time to continue.
    for (let turn = 0; turn < 1_000; turn++) await nextTurn()
    assert.ok(added < 5, `${added} added`)
    assert.equal(taken, 1)
    const refusal = new Error('enough')
    gate.reject(refusal)
    await assert.rejects(adding, refusal)
    await zip.abandon()
  })
})

describe('a ZIP file with 64-bit records', () => {
  const content = Buffer.from('{}')
  const packed = deflateRawSync(content)
  const entryAt = (name: string, offset: number): ZipEntry => {
    const sizes = { packedBytes: packed.length, bytes: content.length }
    return { name, modifiedAt, offset, checksum: crc32(content), ...sizes }
  }
  const fileOf = (entry: ZipEntry) => Buffer.concat([localHeader(entry), packed, dataDescriptor(entry)])

  it('supports more files than 16 bits can count', { skip: missing('unzip') }, async (t) => {
    const [files, directory]: [Buffer[], Buffer[]] = [[], []]
    let offset = 0
    for (let i = 0; i < 65_600; i++) {
      const entry = entryAt(`${i}.json`, offset)
      const file = fileOf(entry)
      offset += file.length
      files.push(file)
      directory.push(directoryRecord(entry))
    }
    const records = Buffer.concat(directory)
    const end = endOfDirectory({ entries: directory.length, bytes: records.length, offset })
    const path = join(temporaryFolder(t), 'many.zip')
    writeFileSync(path, Buffer.concat([...files, records, end]))
    // Reads one file through the directory, which the 64-bit records are for; reading all files takes
    // seconds.
    for (const { name, read } of programs) {
      if (missing(name)) continue
      const { stdout } = spawnSync(name, read(path, '65599.json'), { encoding: 'utf8' })
      assert.equal(stdout.trim(), '{}', name)
    }
  })

  it('supports files beyond 4 GiB', { skip: missing('unzip') }, async (t) => {
    // A sparse file, apart from its last entry.
    const far = 5 * 1024 ** 3
    const [near, behind] = [entryAt('near.json', 0), entryAt('behind.json', far)]
    const records = Buffer.concat([near, behind].map(directoryRecord))
    const offset = far + fileOf(behind).length
    const path = join(temporaryFolder(t), 'far.zip')
    const file = openSync(path, 'w')
    ftruncateSync(file, far)
    writeSync(file, fileOf(near), 0, undefined, 0)
    writeSync(file, fileOf(behind), 0, undefined, far)
    writeSync(file, records, 0, undefined, offset)
    const end = endOfDirectory({ entries: 2, bytes: records.length, offset })
    writeSync(file, end, 0, undefined, offset + records.length)
    closeSync(file)
    for (const program of programs)
      if (!missing(program.name)) assert.equal(check(program, path), 'complete', program.name)
  })

  it('states sizes of 4 GiB and more in 64 bits, after the content and in the directory', () => {
    const size = 0x1_2345_6789
    const entry = { ...entryAt('large.json', 7), packedBytes: 0x0fff_ffff, bytes: size }
    const descriptor = dataDescriptor(entry)
    assert.deepEqual(
      [descriptor.length, descriptor.readBigUInt64LE(8), descriptor.readBigUInt64LE(16)],
      [24, 0x0fff_ffffn, BigInt(size)],
    )
    const record = directoryRecord(entry)
    const extra = record.subarray(46 + 'large.json'.length + 9)
    assert.deepEqual([record.readUInt32LE(20), record.readUInt32LE(24)], [0xffffffff, 0xffffffff])
    assert.deepEqual([extra.readUInt16LE(0), extra.readUInt16LE(2)], [1, 16])
    assert.deepEqual([extra.readBigUInt64LE(4), extra.readBigUInt64LE(12)], [BigInt(size), 0x0fff_ffffn])
    assert.deepEqual([record.readUInt16LE(6), record.readUInt32LE(42)], [45, 7])
    const small = { ...entry, packedBytes: 1, bytes: 0xffff_fffe }
    assert.equal(dataDescriptor(small).length, 16)
    assert.equal(directoryRecord(small).readUInt32LE(24), 0xffff_fffe)
  })
})
