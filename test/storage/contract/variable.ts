import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TrackerRef } from '../../../src/domain/tracker.ts'
import { keptVersions, noVariables, variableSet } from '../../../src/domain/variable.ts'
import type { VariableToken } from '../../../src/domain/variable-token.ts'
import { deleteOrganisation, deleteTracker, removeAll } from './deletion.ts'
import type { Fixture } from './fixture.ts'
import { kindsOf, memberNote } from './member.ts'

const now = 1_794_000_000_000
const hash = '07'.repeat(32)
const member = { kind: 'member', id: 'm', name: 'ada@acme.example' } as const

export function variableContract(fixture: Fixture): void {
  function addVersion(tracker: TrackerRef, version: number, values: Record<string, unknown> = { version }) {
    const counts = { added: 1, changed: 2, removed: 3 }
    return fixture.store.variables.add(
      tracker,
      { version, changedAt: now + version, actor: member, ...counts },
      variableSet(version, new Map(Object.entries(values))),
      memberNote(fixture, tracker.organisationId, 'variables.changed'),
    )
  }

  function newToken(trackerId: string, name = 'website'): VariableToken {
    const id = fixture.fresh('token')
    const never = { rotatedAt: null, revokedAt: null, lastUsedAt: null }
    return { id, trackerId, name, lastFour: 'abcd', createdAt: now, ...never }
  }

  async function storedToken(tracker: TrackerRef, name?: string): Promise<VariableToken> {
    const token = newToken(tracker.trackerId, name)
    const note = memberNote(fixture, tracker.organisationId, 'variable-token.created')
    assert.equal(await fixture.store.variableTokens.create(tracker, token, hash, note), 'created')
    return token
  }

  describe('the variables of a tracker', () => {
    it('are none, at version 0, before the first change', async () => {
      const { trackerId } = await fixture.createTracker()
      assert.deepEqual(await fixture.store.variables.current(trackerId), noVariables)
      assert.deepEqual(await fixture.store.variables.listVersions(trackerId), [])
      assert.equal(await fixture.store.variables.find(trackerId, 0), null)
    })

    it('are those of the newest version, with its author and a note', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId, organisationId } = tracker
      const values = { 'Ünï"': '\u0000 🦦 \ud800', nested: { __proto__: null, list: [1.5, null, true] } }
      assert.equal(await addVersion(tracker, 1), 'added')
      assert.equal(await addVersion(tracker, 2, values), 'added')
      const current = variableSet(2, new Map(Object.entries(values)))
      assert.deepEqual(await fixture.store.variables.current(trackerId), current)
      assert.deepEqual(await fixture.store.variables.find(trackerId, 2), current)
      const counts = { added: 1, changed: 2, removed: 3 }
      assert.deepEqual(await fixture.store.variables.listVersions(trackerId), [
        { version: 2, changedAt: now + 2, actor: member, ...counts },
        { version: 1, changedAt: now + 1, actor: member, ...counts },
      ])
      const kinds = await kindsOf(fixture, organisationId)
      assert.deepEqual(kinds, ['variables.changed', 'variables.changed'])
    })

    it('are changed by only one of several changes to the same version; the others have no effect', async () => {
      const tracker = await fixture.createTracker()
      const outcomes = await Promise.all([1, 2, 3, 4].map((by) => addVersion(tracker, 1, { by })))
      assert.deepEqual(outcomes.sort(), ['added', 'stale', 'stale', 'stale'])
      assert.equal(await addVersion(tracker, 3), 'stale')
      assert.equal((await fixture.store.variables.listVersions(tracker.trackerId)).length, 1)
      assert.deepEqual(await kindsOf(fixture, tracker.organisationId), ['variables.changed'])
    })

    it('keep only the last versions', async () => {
      const [tracker, other] = [await fixture.createTracker(), await fixture.createTracker()]
      await addVersion(other, 1)
      for (let version = 1; version <= keptVersions + 2; version++) await addVersion(tracker, version)
      const versions = await fixture.store.variables.listVersions(tracker.trackerId)
      assert.deepEqual(
        versions.map(({ version }) => version),
        Array.from({ length: keptVersions }, (_, i) => keptVersions + 2 - i),
      )
      assert.equal(await fixture.store.variables.find(tracker.trackerId, 2), null)
      assert.equal((await fixture.store.variables.listVersions(other.trackerId)).length, 1)
    })

    it('cannot be changed in a tracker that is unknown, deleted or another organisation’s', async () => {
      const tracker = await fixture.createTracker()
      const organisationId = await fixture.createOrganisation()
      assert.equal(await addVersion({ ...tracker, organisationId }, 1), 'absent')
      assert.equal(await addVersion({ ...tracker, trackerId: 'nothing' }, 1), 'absent')
      await deleteTracker(fixture, tracker)
      assert.equal(await addVersion(tracker, 1), 'absent')
    })
  })

  describe('a variable token', () => {
    const rotation = { hash: 'fe'.repeat(32), lastFour: 'wxyz' }
    const noteOf = (kind: 'rotated' | 'revoked', organisationId: string) =>
      memberNote(fixture, organisationId, `variable-token.${kind}`)

    it('is found as it was stored, with what it may currently read', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId, organisationId } = tracker
      const token = await storedToken(tracker, `"O'Neill" 🦦`)
      assert.deepEqual(await fixture.store.variableTokens.find(token.id), { ...token, organisationId })
      const reader = { tokenId: token.id, trackerId, organisationId, hash }
      const { findReader } = fixture.store.variableTokens
      assert.deepEqual(await findReader(token.id), { ...reader, digest: noVariables.digest })
      await addVersion(tracker, 1)
      const { digest } = await fixture.store.variables.current(trackerId)
      assert.deepEqual(await findReader(token.id), { ...reader, digest })
      assert.equal(await findReader('nothing'), null)
      assert.equal(await fixture.store.variableTokens.find('nothing'), null)
    })

    it('has a name that is unique among its tracker’s active tokens', async () => {
      const [tracker, other] = [await fixture.createTracker(), await fixture.createTracker()]
      const token = await storedToken(tracker)
      const note = () => memberNote(fixture, tracker.organisationId, 'variable-token.created')
      const create = (where: TrackerRef) =>
        fixture.store.variableTokens.create(where, newToken(where.trackerId), hash, note())
      assert.equal(await create(tracker), 'taken')
      assert.equal(await create({ ...tracker, organisationId: other.organisationId }), 'absent')
      await storedToken(other)
      await fixture.store.variableTokens.revoke(token.id, now, noteOf('revoked', tracker.organisationId))
      const again = await storedToken(tracker)
      const listed = await fixture.store.variableTokens.list(tracker.trackerId)
      assert.deepEqual(listed, [{ ...token, revokedAt: now }, again])
    })

    it('can be rotated while it is active, each time later than before', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const { id } = await storedToken(tracker)
      const rotate = (at: number) =>
        fixture.store.variableTokens.rotate(id, rotation, at, noteOf('rotated', organisationId))
      assert.deepEqual([await rotate(now), await rotate(now - 5)], [now, now + 1])
      assert.equal((await fixture.store.variableTokens.findReader(id))?.hash, rotation.hash)
      const revoke = () => fixture.store.variableTokens.revoke(id, now + 9, noteOf('revoked', organisationId))
      assert.deepEqual([await revoke(), await revoke()], [true, false])
      assert.equal(await rotate(now + 10), null)
      assert.equal(await fixture.store.variableTokens.findReader(id), null)
      assert.deepEqual(await kindsOf(fixture, organisationId), [
        'variable-token.created',
        'variable-token.revoked',
        'variable-token.rotated',
        'variable-token.rotated',
      ])
    })

    it('records when it was last used', async () => {
      const tracker = await fixture.createTracker()
      const { id } = await storedToken(tracker)
      for (const at of [now + 5, now + 3]) {
        await fixture.store.variableTokens.touch(
          new Map([
            [id, at],
            ['nothing', at],
          ]),
        )
      }
      assert.equal((await fixture.store.variableTokens.find(id))?.lastUsedAt, now + 5)
    })

    it('is revoked and rotated again when that is replayed', async () => {
      const { replay, variableTokens } = fixture.store
      const { id } = await storedToken(await fixture.createTracker())
      const change = { credential: 'variable-token', id, at: now } as const
      const rotate = (at: number) => replay.rotate({ ...change, ...rotation, at, kind: 'rotation' })
      assert.deepEqual([await rotate(now), await rotate(now), await rotate(now - 1)], [true, false, false])
      assert.equal((await variableTokens.findReader(id))?.hash, rotation.hash)
      const revoke = () => replay.revoke({ ...change, kind: 'revocation' })
      assert.deepEqual([await revoke(), await revoke()], [true, false])
      assert.equal(await variableTokens.findReader(id), null)
    })

    it('ends with its tracker or organisation, whose variables are removed', async () => {
      const organisationId = await fixture.createOrganisation()
      const trackers = [await fixture.createTracker(), await fixture.createTracker(organisationId)]
      for (const [i, tracker] of trackers.entries()) {
        const { id } = await storedToken(tracker)
        await addVersion(tracker, 1)
        if (i === 0) await deleteTracker(fixture, tracker)
        else await deleteOrganisation(fixture, organisationId)
        assert.equal(await fixture.store.variableTokens.findReader(id), null)
        assert.equal(await fixture.store.variableTokens.find(id), null)
        await removeAll(fixture, tracker.trackerId)
        assert.deepEqual(await fixture.store.variableTokens.list(tracker.trackerId), [])
        assert.deepEqual(await fixture.store.variables.listVersions(tracker.trackerId), [])
      }
    })
  })
}
