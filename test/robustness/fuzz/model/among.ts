import assert from 'node:assert/strict'

/** One of some things, whatever the number. */
export function among<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length]
  assert.ok(item !== undefined)
  return item
}
