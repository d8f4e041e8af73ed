import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read, tableRows } from './markdown.ts'

/** How many requirements each section of the chapters V6 and V7 has in ASVS 5.0. */
const sections: Record<string, number> = {
  ...{ 6.1: 3, 6.2: 12, 6.3: 8, 6.4: 6, 6.5: 8, 6.6: 4, 6.7: 2, 6.8: 4 },
  ...{ 7.1: 3, 7.2: 4, 7.3: 2, 7.4: 5, 7.5: 3, 7.6: 2 },
}

test('the page about ASVS has every requirement of both chapters once, with a result and a reason', () => {
  const rows = tableRows(read('docs/asvs.md'))
  const wanted = Object.entries(sections).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, i) => `${section}.${i + 1}`),
  )
  assert.deepEqual(
    rows.map(([number]) => number),
    wanted,
  )
  for (const [number = '', level = '', requirement = '', result = '', why = ''] of rows) {
    assert.match(level, /^[123]$/, number)
    assert.match(result, /^(met|not met|not applicable)$/, number)
    assert.ok(requirement !== '' && why !== '', number)
  }
})
