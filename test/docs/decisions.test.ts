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

test('the index lists exactly the decisions, with their titles and statuses', () => {
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

test('decisions are numbered without gaps, in file names and titles', () => {
  files.sort().forEach((file, i) => {
    assert.equal(Number(file.slice(0, 4)), i + 1, file)
    assert.match(read(`docs/adr/${file}`), new RegExp(`^# ${i + 1}\\. `), file)
  })
})

const date = String.raw`\d{4}-\d{2}-\d{2}`
const link = String.raw`\[(\d+)\]\((\d{4}-.+\.md)\)`
const merged = new RegExp(`^# .+\\n\\nStatus: merged into ${link}, ${date}\\n$`)

test('every decision has a status with a date', () => {
  const status = new RegExp(
    `^Status: (accepted|(superseded( in part)? by|merged into) ${link}), ${date}$`,
    'm',
  )
  for (const file of files) assert.match(read(`docs/adr/${file}`), status, file)
})

test('every decision has a context, a decision and consequences, or points to the one it was merged into', () => {
  for (const file of files) {
    const text = read(`docs/adr/${file}`)
    const [, number, target = ''] = merged.exec(text) ?? []
    if (number !== undefined) {
      assert.equal(Number(target.slice(0, 4)), Number(number), file)
      assert.match(
        read(`docs/adr/${target}`),
        new RegExp(`former decisions? .*\\b${Number(file.slice(0, 4))}\\b`),
        file,
      )
      continue
    }
    const headings = sections(text).map(({ heading }) => heading)
    assert.deepEqual(headings.slice(0, 3), ['Context', 'Decision', 'Consequences'], file)
  }
})

const ofConsole = manifest('console/package.json').devDependencies

test('the record lists exactly the dependencies, with versions and licences', () => {
  const rows = tableRows(section(read('docs/adr/0006-dependencies.md'), 'Decision'))
  const { dependencies, devDependencies } = manifest('package.json')
  const wanted = Object.entries({ ...dependencies, ...devDependencies, ...ofConsole }).map(
    ([name, version]) => [name, version, manifest(`node_modules/${name}/package.json`).license],
  )
  const recorded = rows.map(([name, version, licence]) => [code(name), version, licence])
  assert.deepEqual(recorded.sort(), wanted.sort())
})

test('the record separates run-time from development dependencies', () => {
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
