import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JournalLine } from '../../src/domain/journal-line.ts'
import { formatRecord } from '../../src/domain/ledger-record.ts'
import { FileJournal, mergeJournals } from '../../src/journal.ts'
import { childProgram } from '../support/child-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const appendLines = childProgram(new URL('child-appends.ts', import.meta.url))

function revoked(id: string, at = 1): JournalLine {
  return { kind: 'revocation', credential: 'key', id, at }
}

async function linesOf(lines: AsyncIterable<JournalLine>): Promise<JournalLine[]> {
  const all: JournalLine[] = []
  for await (const line of lines) all.push(line)
  return all
}

describe('a journal in a file', () => {
  it('returns every kind of line as it was written', async (t) => {
    const journal = new FileJournal(join(temporaryFolder(t), 'new', 'journal'))
    const counts = { events: 2, sessions: 1 }
    const erased = { alreadyErased: false, counts, erasedAt: 5, subject: 'c', trackerId: 'shop\u2028' }
    const erasure = {
      kind: 'erasure' as const,
      organisationId: 'ä',
      index: 3,
      record: formatRecord({ version: 1, ...erased }),
      at: 5,
    }
    const nothingHeld = {
      ...({ kind: 'nothing-held', organisationId: 'ä', index: 5 } as const),
      ...{ record: formatRecord({ version: 2, checkedAt: 8, person: 'p' }), at: 8, tombstone: null },
    }
    const tombstone = { trackerId: 'shop\u2028', digest: Buffer.alloc(16, 9), refusedUntil: 7 }
    const rotation = { kind: 'rotation', id: 'k', at: 6, hash: 'a'.repeat(64), lastFour: 'abcd' } as const
    const lines: JournalLine[] = [
      { ...erasure, tombstone },
      { ...erasure, index: 4, tombstone: null },
      nothingHeld,
      { ...rotation, credential: 'key' },
      { ...rotation, credential: 'variable-token' },
      revoked('k'),
      { kind: 'revocation', credential: 'variable-token', id: 'k', at: 7 },
    ]
    await journal.append(lines)
    assert.deepEqual(await linesOf(journal.read()), lines)
  })

  it('is empty without a file, and starts a new one if it was moved away', async (t) => {
    const path = join(temporaryFolder(t), 'journal')
    const journal = new FileJournal(path)
    assert.deepEqual(await linesOf(journal.read()), [])
    await journal.append([revoked('a')])
    renameSync(path, `${path}.1`)
    await journal.append([revoked('b')])
    assert.deepEqual(await linesOf(journal.read()), [revoked('b')])
    const merged = mergeJournals([path, `${path}.1`], () => assert.fail())
    assert.deepEqual(await linesOf(merged), [revoked('b'), revoked('a')])
  })

  it('can be read from a position, even if it was replaced meanwhile', async (t) => {
    const path = join(temporaryFolder(t), 'journal')
    const journal = new FileJournal(path)
    let from = 0
    const next = () => linesOf(journal.read({ from, onEnd: (offset) => (from = offset) }))
    await journal.append([revoked('ä'), revoked('b')])
    assert.deepEqual(await next(), [revoked('ä'), revoked('b')])
    assert.deepEqual(await next(), [])
    // A line without its ending may be incomplete, so it is read again.
    appendFileSync(path, '{"kind":"key.revoked","keyId":"c","at":"1970-01-01T00:00:00.001Z"}')
    assert.deepEqual(await next(), [revoked('c')])
    await journal.append([revoked('d')])
    assert.deepEqual(await next(), [revoked('c'), revoked('d')])
    renameSync(path, `${path}.1`)
    await journal.append([revoked('e')])
    assert.deepEqual(await next(), [revoked('e')])
  })

  it('loses nothing after a torn line', async (t) => {
    const path = join(temporaryFolder(t), 'journal')
    writeFileSync(path, '{"kind":"key.revo')
    const journal = new FileJournal(path)
    await journal.append([revoked('a')])
    const torn: number[] = []
    assert.deepEqual(await linesOf(journal.read({ onUnreadable: (line) => torn.push(line) })), [revoked('a')])
    assert.deepEqual(torn, [1])
  })

  const foreign = {
    'a description of a backup': '{\n  "bytes": 4096,\n  "sha256": ""\n}\n',
    'an import': '{"type":"event","name":"pageview"}\n',
    'a compressed journal': gzipSync('x'),
    'a secret': `${Buffer.alloc(32, 7).toString('base64')}\n`,
  }
  for (const [what, content] of Object.entries(foreign)) {
    it(`is not ${what}, to which nothing is appended`, async (t) => {
      const path = join(temporaryFolder(t), 'file')
      writeFileSync(path, content)
      const reading = linesOf(mergeJournals([path], () => assert.fail('a line is torn')))
      await assert.rejects(reading, /file is not a journal/)
      await assert.rejects(linesOf(new FileJournal(path).read()), /file is not a journal/)
      await assert.rejects(new FileJournal(path).append([revoked('a')]), /file is not a journal/)
      assert.deepEqual(readFileSync(path), Buffer.from(content))
    })
  }

  it('may have only torn lines, with zero bytes from the file system', async (t) => {
    const path = join(temporaryFolder(t), 'journal')
    writeFileSync(path, '\n{"kind":"key.revo\n{"ki\0\0\n\0\0')
    const torn: number[] = []
    const lines = linesOf(mergeJournals([path], (_, line) => torn.push(line)))
    assert.deepEqual([await lines, torn], [[], [2, 3, 4]])
  })

  it('combines concurrent appends into one write', async (t) => {
    const path = join(temporaryFolder(t), 'journal')
    const journal = new FileJournal(path)
    await Promise.all(Array.from({ length: 50 }, (_, n) => journal.append([revoked(`k${n}`)])))
    const writes =
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line === '').length - 1
    assert.equal((await linesOf(journal.read())).length, 50)
    assert.ok(writes <= 2, `${writes} writes`)
  })

  it('keeps the lines of several processes intact', async (t) => {
    const path = join(temporaryFolder(t), 'journal')
    const children = ['a', 'b', 'c'].map((name) => fork(appendLines, [path, name, '300']))
    for (const [code] of await Promise.all(children.map((child) => once(child, 'exit'))))
      assert.equal(code, 0)
    const lines = await linesOf(
      new FileJournal(path).read({ onUnreadable: () => assert.fail('a line is torn') }),
    )
    assert.equal(new Set(lines.map((line) => JSON.stringify(line))).size, 900)
  })

  const full = { skip: existsSync('/dev/full') ? false : 'there is no /dev/full here' }
  it('keeps lines in memory while the disk is full', full, async () => {
    const journal = new FileJournal('/dev/full')
    const told: string[] = []
    journal.watch({ onFailed: () => told.push('failed'), onRecovered: () => told.push('recovered') })
    await assert.rejects(journal.append([revoked('a')]), /The change was made.*ENOSPC/)
    await assert.rejects(journal.append([revoked('b')]), /ENOSPC/)
    await assert.rejects(journal.recover(), /ENOSPC/)
    assert.equal(journal.waitingLines(), 2)
    assert.deepEqual(told, ['failed', 'failed', 'failed'])
  })
})
