import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hideSecrets } from '../../src/domain/secret.ts'

describe('a displayed address', () => {
  for (const [address, shown] of [
    ['postgres://db.example/lethe', 'postgres://db.example/lethe'],
    ['postgres://lethe:hush@db.example:5433/lethe', 'postgres://…@db.example:5433/lethe'],
    ['postgres://hush@db.example', 'postgres://…@db.example'],
    ['redis://:hush@cache:6379/2', 'redis://…@cache:6379/2'],
    ['rediss://[::1]:6379', 'rediss://[::1]:6379'],
    ['postgres://db.example/lethe?user=me&password=hush', 'postgres://db.example/lethe?…'],
    ['postgres:///lethe?host=/run/hush', 'postgres:///lethe?…'],
    ['postgres://one,two:5433/lethe', 'postgres://one,two:5433/lethe'],
    ['postgres://lethe:hu,sh@one:1,[::1]:2/lethe?x', 'postgres://…@one:1,[::1]:2/lethe?…'],
  ] as const) {
    it(`is ${shown} for ${address}`, () => assert.equal(hideSecrets(address), shown))
  }

  it('is only its scheme if it may contain a password anywhere', () => {
    for (const address of [
      'postgres://lethe:hu/sh@db.example/lethe',
      'postgres://lethe:hu?sh@db.example/lethe',
      'postgres://lethe:hu#sh@db.example/lethe',
      'postgres://lethe:12/hush@db.example/lethe',
      'postgres://lethe:12?hush@db.example/lethe',
      'postgres://db.example:5432/lethe?user=me@corp&password=hush',
      'postgres://lethe:hush@one,two:5432/lethe@x',
      'postgres://lethe:hu,sh/x@one/lethe',
      'postgres://lethe:12,hush/x@one/lethe',
    ]) {
      assert.equal(hideSecrets(address), 'postgres://…', address)
    }
    assert.equal(hideSecrets('lethe:hush'), 'lethe:…')
    assert.equal(hideSecrets('hush'), '…')
  })
})
