import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { everyMetric, familiesOf, samplesOf } from '../support/metrics.ts'
import { code, codes, read, tableRows, withoutBlocks } from './markdown.ts'

const page = read('docs/reference/metrics.md')
const text = await everyMetric({ after })
const families = familiesOf(text)
const samples = samplesOf(text)

/** The name of a metric and, for a histogram, those of its series. */
function names(family: string): string[] {
  return [family, `${family}_bucket`, `${family}_sum`, `${family}_count`]
}

function labelsOf(family: string): string[] {
  const own = samples.filter(({ name }) => names(family).includes(name))
  assert.ok(own.length > 0, `${family} has no sample`)
  return [...new Set(own.flatMap(({ labels }) => Object.keys(labels)))]
    .filter((label) => label !== 'le')
    .sort()
}

test('the metrics page lists exactly the metrics, with their type, labels and help', () => {
  const documented = tableRows(page).map(([name, type, labels = '', tells]) => [
    code(name),
    type,
    codes(labels).sort(),
    tells,
  ])
  const measured = families.map(({ name, type, help }) => [name, type, labelsOf(name), help])
  const byName = (a: unknown[], b: unknown[]) => String(a[0]).localeCompare(String(b[0]))
  assert.deepEqual(documented.sort(byName), measured.sort(byName))
})

test('the metrics page explains every label and every initial label value', () => {
  const words = new Set(codes(withoutBlocks(page)))
  for (const { labels } of samples) {
    for (const [label, value] of Object.entries(labels)) {
      if (['le', 'version', 'node', 'route', 'status'].includes(label)) continue
      assert.ok(words.has(label), `the label ${label} is not explained`)
      assert.ok(words.has(value), `${label}="${value}" is not explained`)
    }
  }
})

test('the metrics page mentions no metric that does not exist', () => {
  const known = families.flatMap(({ name }) => names(name))
  const named = page.match(/\b(?:lethe|process|nodejs)_[a-z_]+[a-z]\b/g) ?? []
  assert.deepEqual(
    named.filter((name) => !known.includes(name)),
    [],
  )
})
