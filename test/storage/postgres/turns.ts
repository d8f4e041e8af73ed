import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { newSignIn } from '../../support/console.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import { eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows, stepBefore } from '../../support/windows.ts'
import { Fixture } from '../contract/fixture.ts'
import { addJoined, addMember, memberNote } from '../contract/member.ts'

const now = 1_794_000_000_000
const hash = '07'.repeat(32)

/** What may wait for what in a store that is spread over a cluster. */
export function turnTests(addressOf: () => string): void {
  describe('a change to tables that every node copies begins with the organisations', () => {
    const lifetime = inReverse({ after })
    const fixture = new Fixture()
    let [holder, observer]: Client[] = []
    let organisations: number
    let shards: number[]

    before(async () => {
      const address = addressOf()
      fixture.use(await openPostgresStore(address))
      lifetime.after(() => fixture.store.close())
      const connect = async () => {
        const client = new Client(address)
        await client.connect()
        lifetime.after(() => client.end())
        return client
      }
      ;[holder, observer] = [await connect(), await connect()]
      const { rows } = await observer.query(
        `SELECT shardid::int AS shard, relname FROM pg_dist_shard JOIN pg_class ON oid = logicalrelid
       JOIN pg_dist_partition USING (logicalrelid)
       WHERE partmethod = 'n' AND relnamespace = current_schema()::regnamespace`,
      )
      shards = rows.map(({ shard }) => shard)
      organisations = rows.find(({ relname }) => relname === 'organisations').shard
    })

    /** Who makes a change waits for whoever holds the organisations, and has locked no table by then. */
    async function assertOrder(change: () => Promise<unknown>): Promise<void> {
      await holder?.query('BEGIN')
      await holder?.query('SELECT 1 FROM organisations FOR NO KEY UPDATE')
      const state = { isOver: false }
      const changing = change().finally(() => {
        state.isOver = true
      })
      try {
        let locks = await locked()
        while (locks.every(({ granted }) => granted)) {
          assert.equal(state.isOver, false, 'it waits')
          await pause(20)
          locks = await locked()
        }
        const early = locks.filter(({ shard, granted }) => granted && shard !== organisations)
        assert.deepEqual(early, [])
      } finally {
        await holder?.query('ROLLBACK')
        await changing
      }
    }

    /** Citus locks a table that every node copies by the number of its shard, on the node that it asks first and on its own. */
    async function locked(): Promise<{ shard: number; granted: boolean }[]> {
      const locks = `SELECT coalesce(json_agg(json_build_object('shard', objid::bigint, 'granted', granted)), '[]')
      FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 5 AND objid::bigint = ANY ('{${shards}}')`
      const { rows } =
        (await observer?.query('SELECT result FROM run_command_on_all_nodes($1)', [locks])) ?? {}
      return (rows ?? []).flatMap(({ result }) => JSON.parse(result))
    }

    const note = (organisationId: string) => memberNote(fixture, organisationId, 'member.joined')
    const link = () => ({ tokenHash: fixture.fresh('link'), expiresAt: now + 1_000 })

    async function newKey(): Promise<string> {
      const organisationId = await fixture.createOrganisation()
      const id = fixture.fresh('key')
      const key = newApiKey({ id, organisationId, scopes: [], createdAt: now })
      assert.equal(await fixture.store.apiKeys.create(key, hash), true)
      return id
    }

    async function signedIn() {
      const member = await addJoined(fixture)
      const signIn = newSignIn(member.id, fixture.fresh('token'), now)
      assert.equal(await fixture.store.signIns.begin(signIn, now, note(member.organisationId)), true)
      return { member, note: note(member.organisationId) }
    }

    it('with a key', async () => {
      const { apiKeys } = fixture.store
      const id = await newKey()
      await assertOrder(() => apiKeys.touch(new Map([[id, now]])))
      await assertOrder(() => apiKeys.rotate(id, { hash, lastFour: 'abcd' }, now))
      await assertOrder(() => apiKeys.revoke(id, now))
    })

    it('with a member', async () => {
      const { members } = fixture.store
      const { member, link: first } = await addMember(fixture)
      const { id, organisationId } = member
      await assertOrder(() => addMember(fixture, { organisationId }))
      await assertOrder(() => members.setPassword(first.tokenHash, 'password', now, note(organisationId)))
      await assertOrder(() => members.invite(id, link(), note(organisationId)))
      await assertOrder(() => members.remove(organisationId, id, note(organisationId)))
    })

    it('with a sign-in', async () => {
      const { signIns } = fixture.store
      const { member, note } = await signedIn()
      const another = newSignIn(member.id, fixture.fresh('token'), now)
      await assertOrder(() => signIns.begin(another, now, { ...note, id: fixture.fresh('entry') }))
      await assertOrder(() => signIns.touch(another.tokenHash, now + 1))
      await assertOrder(() => signIns.end(another.tokenHash, { ...note, id: fixture.fresh('entry') }))
      await assertOrder(() => signIns.endAll(member.id, { ...note, id: fixture.fresh('entry') }))
    })

    it('with a tracker and what it holds', async () => {
      const { trackers, ingest, deletions } = fixture.store
      const view = await fixture.createTracker()
      const { trackerId, organisationId } = view
      const row = eventRow({ trackerId, subjectId: 'ada', eventId: 'e', occurredAt: now })
      await assertOrder(() => trackers.rename(view, 'another', note(organisationId)))
      await assertOrder(() => ingest.ingest([row], testKeys))
      await assertOrder(() => deletions.deleteTracker(view, 'another', now, note(organisationId)))
      await assertOrder(() => deletions.removeTracker(trackerId, 1_000))
    })

    it('with an organisation, its windows and its activity', async () => {
      const { organisations, activity, retention, deletions } = fixture.store
      const id = await fixture.createOrganisation()
      await assertOrder(() => activity.add(note(id)))
      await assertOrder(() => rememberWindows(fixture.store, keeping(2), id))
      await assertOrder(() => retention.sweepActivity(id, stepBefore(now + 86_400_000 * 2, 10)))
      await assertOrder(() => organisations.setPlan(id, 'pro', note(id)))
      await assertOrder(() => organisations.rename(id, 'another', note(id)))
      await assertOrder(() => deletions.deleteOrganisation(id, 'another', now, note(id)))
    })
  })
}
