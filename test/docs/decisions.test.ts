import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { code, read, root, section, sections, tableRows } from './markdown.ts'

const files = readdirSync(new URL('docs/adr/', root)).filter((file) => /^\d{4}-.+\.md$/.test(file))

interface Manifest {
  license: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

function manifest(path: string): Manifest {
  return JSON.parse(read(path))
}

test('the index lists every decision under its title and with its status, and no other', () => {
  const listed = tableRows(read('docs/adr/README.md')).map(([link, ...told]) => {
    const [, number, file] = /^\[(\d{4})\]\((.+)\)$/.exec(link ?? '') ?? []
    assert.equal(file?.slice(0, 4), number)
    return [file, ...told]
  })
  const titles = files.map((file) => {
    const [, title, status] = /^# \d+\. (.+)\n\nStatus: (.+)\n/.exec(read(`docs/adr/${file}`)) ?? []
    return [file, title, status]
  })
  assert.deepEqual(listed, titles.sort())
})

test('decisions are numbered without gaps, in their names and in their titles', () => {
  files.sort().forEach((file, i) => {
    assert.equal(Number(file.slice(0, 4)), i + 1, file)
    assert.match(read(`docs/adr/${file}`), new RegExp(`^# ${i + 1}\\. `), file)
  })
})

test('every decision tells whether it stands, and since when', () => {
  const status = /^Status: (accepted|superseded (in part )?by \[\d+\]\(\d{4}-.+\.md\)), \d{4}-\d{2}-\d{2}$/m
  for (const file of files) assert.match(read(`docs/adr/${file}`), status, file)
})

test('every decision tells its context, what was decided and what follows', () => {
  for (const file of files) {
    const headings = sections(read(`docs/adr/${file}`)).map(({ heading }) => heading)
    assert.deepEqual(headings.slice(0, 3), ['Context', 'Decision', 'Consequences'], file)
  }
})

const ofConsole = manifest('console/package.json').devDependencies

test('every dependency is on record with its version and licence, and no other', () => {
  const rows = tableRows(section(read('docs/adr/0006-dependencies.md'), 'Decision'))
  const { dependencies, devDependencies } = manifest('package.json')
  const wanted = Object.entries({ ...dependencies, ...devDependencies, ...ofConsole }).map(
    ([name, version]) => [name, version, manifest(`node_modules/${name}/package.json`).license],
  )
  const recorded = rows.map(([name, version, licence]) => [code(name), version, licence])
  assert.deepEqual(recorded.sort(), wanted.sort())
})

test('the record keeps what runs and what only develops apart', () => {
  const [running = '', developing = ''] = section(read('docs/adr/0006-dependencies.md'), 'Decision').split(
    'For development',
  )
  const names = (text: string) =>
    tableRows(text)
      .map(([name]) => code(name))
      .sort()
  const { dependencies, devDependencies } = manifest('package.json')
  assert.deepEqual(names(running), Object.keys(dependencies).sort())
  const [tools = '', pages = ''] = developing.split('Of the workspace member')
  assert.deepEqual(names(tools), Object.keys(devDependencies).sort())
  assert.deepEqual(names(pages), Object.keys(ofConsole).sort())
})
