import assert from 'node:assert/strict'
import { test } from 'node:test'
import { variables } from '../../src/config.ts'
import { code, codes, read, tableRows, withoutBlocks } from './markdown.ts'

const page = read('docs/reference/configuration.md')

test('the configuration page lists exactly the variables, with their defaults and accepted values', () => {
  assert.deepEqual(
    tableRows(page).map(([name, fallback, accepts]) => [
      code(name),
      fallback === 'none' ? '' : code(fallback),
      accepts,
    ]),
    Object.entries(variables).map(([name, { fallback, accepts }]) => [name, fallback, accepts]),
  )
})

test('the configuration page mentions no variable that does not exist', () => {
  const named = codes(withoutBlocks(page)).filter((text) => text.startsWith('LETHE_'))
  assert.deepEqual(
    // A name that ends with an underscore is a prefix of several.
    named.filter((name) => !name.endsWith('_') && !Object.hasOwn(variables, name)),
    [],
  )
})
