import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { carriedFiles, carriedPaths, threads } from '../../scripts/packaging/carried-files.ts'
import { folderOnDisk, programFolder, threadScript } from '../../src/runtime/program-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sources = fileURLToPath(new URL('../../src', import.meta.url))
const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(sources, name), 'utf8') }))

/** The paths that the sources pass to a function. */
function askedFor(name: string): string[] {
  const calls = texts.flatMap(({ text }) => [...text.matchAll(new RegExp(`\\b${name}\\('([^']+)'\\)`, 'g'))])
  return [...new Set(calls.map(([, path = '']) => path))].sort()
}

describe('the files that the program carries', () => {
  it('are located in one place: no other source knows its own path', () => {
    const knowing = texts.filter(({ text }) => /\bimport\.meta\b|'node:sea'/.test(text))
    assert.deepEqual(
      knowing.map(({ name }) => name),
      ['runtime/program-files.ts'],
    )
  })

  it('are exactly those that callers ask for', () => {
    const asked = ['programFolder', 'programFile', 'migrationSteps'].flatMap(askedFor)
    assert.deepEqual(asked.sort(), carriedPaths)
    assert.deepEqual(askedFor('threadScript'), threads)
  })

  it('are packed under the names that callers use, without sources', async (t) => {
    const files = await carriedFiles(temporaryFolder(t))
    const names = [...files.keys()]
    for (const folder of ['src/storage/sqlite/migrations', 'src/storage/postgres/migrations']) {
      const packed = names.filter((name) => name.startsWith(`${folder}/`))
      assert.deepEqual(
        packed.map((name) => name.slice(folder.length + 1)),
        programFolder(folder).names(),
      )
    }
    for (const name of ['console/dist/index.html', 'docs/verify.html']) assert.ok(names.includes(name), name)
    assert.deepEqual(
      names.filter((name) => name.endsWith('.ts')),
      [],
    )
  })

  it('are found in a clone, including a thread', () => {
    assert.ok(programFolder('console/dist').names().includes('index.html'))
    const { script, eval: isText } = threadScript('src/storage/sqlite/writer-thread.ts')
    assert.equal(isText, false)
    assert.ok(readFileSync(script).includes('parentPort'))
  })

  it('are listed in order with slashes, at any depth; a missing folder has none', (t) => {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'b'))
    writeFileSync(join(folder, 'b', 'one.txt'), 'one')
    writeFileSync(join(folder, 'a.txt'), 'a')
    const found = folderOnDisk(pathToFileURL(`${folder}/`))
    assert.deepEqual(found.names(), ['a.txt', 'b/one.txt'])
    assert.equal(found.read('b/one.txt').toString(), 'one')
    assert.deepEqual(folderOnDisk(pathToFileURL(`${folder}/none/`)).names(), [])
  })
})
