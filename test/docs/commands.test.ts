import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Argument, Command } from 'commander'
import { programForHelp } from '../../scripts/packaging/man-page.ts'
import { plans } from '../../src/domain/retention.ts'
import { blocks, code, codes, markdownFiles, read, section, sections, slug, tableRows } from './markdown.ts'

const page = read('docs/reference/commands.md')
const program = await programForHelp()
const commands = leaves(program)

/** Every executable command, by its full name. */
function leaves(command: Command, parents = ''): Map<string, Command> {
  const name = parents === '' ? command.name() : `${parents} ${command.name()}`
  if (command.commands.length === 0) return new Map([[name, command]])
  // A command with subcommands is executable if it takes arguments.
  const own: [string, Command][] = command.registeredArguments.length > 0 ? [[name, command]] : []
  return new Map([...own, ...command.commands.flatMap((child) => [...leaves(child, name)])])
}

function written(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

test('the commands page has exactly one section for each command', () => {
  assert.deepEqual(
    sections(page).map(({ heading }) => heading),
    [...commands.keys()],
  )
})

test('the table at the top links to every command', () => {
  const [start = ''] = page.split(/^## /m)
  for (const name of commands.keys()) assert.match(start, new RegExp(`\\(#${slug(name)}\\)`))
})

for (const [name, command] of commands) {
  test(`the section on ${name} lists exactly its arguments and options`, () => {
    assert.deepEqual(
      tableRows(section(page, name)).map(([flags]) => code(flags)),
      [...command.registeredArguments.map(written), ...command.options.map(({ flags }) => flags)],
    )
  })

  test(`the section on ${name} states the defaults and choices of its options, and which are mandatory`, () => {
    const rows = new Map(
      tableRows(section(page, name)).map(([flags, meaning = '']) => [code(flags), meaning]),
    )
    for (const { flags, argChoices = [], defaultValue, mandatory } of command.options) {
      const meaning = rows.get(flags) ?? ''
      const choices = codes(meaning)
      for (const choice of argChoices) assert.ok(choices.includes(choice), `${flags} without ${choice}`)
      if (defaultValue !== undefined) assert.ok(meaning.includes(`default \`${defaultValue}\``), flags)
      assert.equal(meaning.includes('required'), mandatory, `whether ${flags} is required`)
    }
    if (rows.has('<plan>')) assert.deepEqual(codes(rows.get('<plan>') ?? ''), [...plans])
  })

  test(`the section on ${name} shows an example`, () => {
    const examples = blocks(section(page, name), 'console').join('\n')
    assert.match(examples, new RegExp(`^\\$ npx ${name}\\b`, 'm'))
  })
}

test('every command line in the docs uses existing commands and options', () => {
  let count = 0
  for (const file of markdownFiles()) {
    for (const line of blocks(read(file), 'console').join('\n').split('\n')) {
      const [, words] = /^\$ .*\bnpx (lethe .*)$/.exec(line) ?? []
      if (words === undefined) continue
      const name = [...commands.keys()].find((each) => words === each || words.startsWith(`${each} `))
      assert.ok(name, `${file} shows "${words}", which is not a command`)
      const known = commands.get(name)?.options.map(({ long }) => long) ?? []
      for (const [flag] of words.matchAll(/--[a-z-]+/g))
        assert.ok(known.includes(flag), `${file} shows ${name} with ${flag}`)
      count += 1
    }
  }
  assert.ok(count > commands.size)
})
