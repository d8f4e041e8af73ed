import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { whenWhole } from '../../src/cli/remote/whole-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const noUnlinking = { skip: process.platform === 'win32' && 'Windows keeps files that are open' }

describe('text that is passed on when it is complete', () => {
  it('is in no file that a killed process would leave', noUnlinking, async (t) => {
    const folder = temporaryFolder(t)
    const before = process.env.TMPDIR
    t.after(() => {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    })
    process.env.TMPDIR = folder
    const seen: string[][] = []
    async function* text() {
      yield 'personal '
      seen.push(readdirSync(folder))
      yield 'data'
    }
    let read = ''
    await whenWhole(text(), async (whole) => {
      seen.push(readdirSync(folder))
      for await (const piece of whole) read += piece
    })
    assert.deepEqual([read, seen], ['personal data', [[], []]])
  })
})
