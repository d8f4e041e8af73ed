import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeyString } from '../../src/domain/api-key.ts'
import { createKey } from '../../src/operations/api-key.ts'
import { keyUse } from '../../src/operations/api-key-use.ts'
import { until } from '../support/until.ts'
import { openDeps } from './fixture.ts'

const { deps, passTime, fresh } = openDeps()

async function keyId(): Promise<string> {
  const organisationId = fresh('organisation')
  await deps().organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: 1 })
  const scopes = ['analytics:view']
  const { key } = await createKey(deps(), { organisationId, name: 'nightly', scopes, expiresAt: null })
  return key.id
}

async function lastUsedAt(id: string): Promise<number | null | undefined> {
  return (await deps().apiKeys.find(id))?.lastUsedAt
}

function fail(error: unknown): never {
  throw error
}

describe('the last use of a key', () => {
  it('is stored when the service stops', async () => {
    const [a, b] = [await keyId(), await keyId()]
    const use = keyUse(deps(), fail)
    const first = deps().clock()
    use.note(a)
    use.note(b)
    passTime(10)
    use.note(a)
    assert.equal(await lastUsedAt(a), null)
    await use.stop()
    assert.equal((await deps().apiKeys.find(a))?.lastUsedAt, first + 10)
    assert.equal((await deps().apiKeys.find(b))?.lastUsedAt, first)
  })

  it('is stored five seconds after the first use, and again five seconds after the next', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const id = await keyId()
    const use = keyUse(deps(), fail)
    const first = deps().clock()
    use.note(id)
    t.mock.timers.tick(4_999)
    assert.equal(await lastUsedAt(id), null)
    t.mock.timers.tick(1)
    await until(async () => (await lastUsedAt(id)) === first)
    passTime(7)
    use.note(id)
    assert.equal(await lastUsedAt(id), first)
    t.mock.timers.tick(5_000)
    await until(async () => (await lastUsedAt(id)) === first + 7)
    await use.stop()
  })

  it('needs one write for any number of requests, and none without requests', async () => {
    const id = await keyId()
    const writes: number[] = []
    const apiKeys = {
      ...deps().apiKeys,
      async touch(lastUsed: ReadonlyMap<string, number>) {
        writes.push(lastUsed.size)
        await deps().apiKeys.touch(lastUsed)
      },
    }
    const use = keyUse({ ...deps(), apiKeys }, fail)
    for (let i = 0; i < 1_000; i++) use.note(id)
    await use.stop()
    await use.stop()
    assert.deepEqual(writes, [1])
  })

  it('is reported if it cannot be stored, without further effects', async () => {
    const errors: unknown[] = []
    const disk = new Error('the disk is full')
    const apiKeys = { ...deps().apiKeys, touch: () => Promise.reject(disk) }
    const use = keyUse({ ...deps(), apiKeys }, (error) => errors.push(error))
    use.note(await keyId())
    await use.stop()
    assert.deepEqual(errors, [disk])
  })

  it('counts refusals by the budget of an address if the string is a key', async () => {
    const organisationId = fresh('organisation')
    await deps().organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: 1 })
    const wanted = { organisationId, name: 'nightly', scopes: ['analytics:view'], expiresAt: null }
    const { key, keyString } = await createKey(deps(), wanted)
    const use = keyUse(deps(), fail)
    for (let i = 0; i < 3; i++) use.noteRefusedString(keyString)
    // A made-up string with this key’s ID, and a string of another form.
    use.noteRefusedString(createKeyString(key.id, deps().randomness))
    use.noteRefusedString('lethe_')
    await use.stop()
    const day = Math.floor(deps().clock() / 86_400_000)
    assert.deepEqual(await deps().apiKeys.listDays(key.id, 0), [
      { keyId: key.id, day, requests: 3, refusals: 3 },
    ])
    assert.equal(await lastUsedAt(key.id), null)
  })

  it('keeps a limited number of strings, even if clients make them up', async () => {
    let lookups = 0
    const apiKeys = {
      ...deps().apiKeys,
      findCaller: (id: string) => {
        lookups += 1
        return deps().apiKeys.findCaller(id)
      },
    }
    const use = keyUse({ ...deps(), apiKeys }, fail)
    const { randomness } = deps()
    for (let i = 0; i < 500; i++) use.noteRefusedString(createKeyString(randomness.base62(16), randomness))
    await use.stop()
    assert.equal(lookups, 100)
  })

  it('is counted by day with refusals, and written again if the store failed', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const id = await keyId()
    const usedAt = deps().clock()
    let hasFailed = false
    const apiKeys = {
      ...deps().apiKeys,
      touch: (...args: Parameters<ReturnType<typeof deps>['apiKeys']['touch']>) => {
        if (hasFailed) return deps().apiKeys.touch(...args)
        hasFailed = true
        return Promise.reject(new Error('no'))
      },
    }
    const use = keyUse({ ...deps(), apiKeys }, () => {})
    use.note(id)
    use.note(id)
    use.noteRefusal(id)
    t.mock.timers.tick(5_000)
    await until(async () => hasFailed)
    assert.deepEqual(await deps().apiKeys.listDays(id, 0), [])
    await until(async () => {
      t.mock.timers.tick(5_000)
      return (await lastUsedAt(id)) === usedAt
    })
    await use.stop()
    const day = Math.floor(deps().clock() / 86_400_000)
    assert.deepEqual(await deps().apiKeys.listDays(id, 0), [{ keyId: id, day, requests: 2, refusals: 1 }])
  })
})
