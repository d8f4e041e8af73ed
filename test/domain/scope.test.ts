import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allScopes, areas, isScope } from '../../src/domain/api-key.ts'

describe('the scopes', () => {
  it('are the two that endpoints know', () => {
    assert.deepEqual(allScopes(), ['analytics:view', 'analytics:delete-data'])
    for (const scope of allScopes()) assert.equal(isScope(scope), true)
  })

  it('speak of an area and an action', () => {
    for (const scope of allScopes()) {
      const [area = '', action = '', ...rest] = scope.split(':')
      assert.ok(
        areas.some((known) => known === area),
        scope,
      )
      assert.match(action, /^[a-z]+(-[a-z]+)*$/)
      assert.deepEqual(rest, [])
    }
  })

  it('are none that no endpoint knows', () => {
    const others = [
      ...['', 'analytics', 'analytics:', 'analytics:edit', 'Analytics:view', 'analytics:view '],
      ...['billing:view'],
    ]
    for (const text of [...others, 'toString', '__proto__', 'constructor', 'hasOwnProperty']) {
      assert.equal(isScope(text), false, text)
    }
  })
})

describe('the areas', () => {
  it('are the eight of the product', () => {
    assert.deepEqual(
      areas,
      'analytics trackers variables uptime-monitors status-pages members api-keys billing'.split(' '),
    )
  })
})
