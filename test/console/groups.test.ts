import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { ActivityKind } from '../../src/domain/activity.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { dataOf, isObject, listIn, objectIn, pagesOf, problemFields } from '../support/answers.ts'
import { eraseWithRequest, note, openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { organisationId, services } = shop
const client = await openConsole(shop, organisationId)

async function readPages(path: string, limit: number): Promise<Record<string, unknown>[]> {
  const pages: Record<string, unknown>[] = []
  for await (const page of pagesOf((after) =>
    client.ask(`${path}?${new URLSearchParams({ limit: `${limit}`, ...after })}`),
  ))
    pages.push(page)
  return pages
}

const groupsIn = (page: Record<string, unknown>) => listIn(page, 'groups').filter(isObject)

describe('activity in groups', () => {
  const actors = ['key_1', 'key_2'].map((id) => ({ kind: 'key' as const, id, name: id }))
  let at = services.clock() + 1_000

  /** Adds entries of a request in chronological order. */
  async function add(requestId: string | null, kind: ActivityKind, times: number, [actor] = actors) {
    assert.ok(actor)
    for (let i = 0; i < times; i++)
      await services.activity.add({ ...note(shop, organisationId, kind), at: at++, actor, requestId })
  }

  test('has one line for consecutive entries of a request, in order, with counts by kind', async () => {
    await add('r1', 'batch.started', 1)
    await add('r1', 'subject.erased', 450)
    await add('r2', 'key.created', 1)
    await add('r1', 'subject.erased', 3)
    await add('r1', 'batch.finished', 1)
    await add('r1', 'subject.exported', 2, actors.slice(1))
    await add(null, 'subject.erased', 2)
    const [page = {}] = await readPages('/activity/groups', 6)
    assert.deepEqual(
      groupsIn(page).map(({ count, kinds, newest }) => [
        objectIn({ newest }, 'newest').requestId,
        count,
        kinds,
      ]),
      [
        [null, 1, [{ kind: 'subject.erased', count: 1 }]],
        [null, 1, [{ kind: 'subject.erased', count: 1 }]],
        ['r1', 2, [{ kind: 'subject.exported', count: 2 }]],
        [
          ...['r1', 4],
          [
            { kind: 'batch.finished', count: 1 },
            { kind: 'subject.erased', count: 3 },
          ],
        ],
        ['r2', 1, [{ kind: 'key.created', count: 1 }]],
        [
          ...['r1', 451],
          [
            { kind: 'subject.erased', count: 450 },
            { kind: 'batch.started', count: 1 },
          ],
        ],
      ],
    )
  })

  test('has every entry on one page and no group on two', async () => {
    const entries = (await readPages('/activity', 200)).flatMap((page) => listIn(page, 'entries'))
    for (const limit of [1, 2, 5]) {
      const pages = await readPages('/activity/groups', limit)
      const groups = pages.flatMap(groupsIn)
      assert.ok(pages.every((page) => groupsIn(page).length <= limit))
      assert.equal(
        groups.reduce((sum, { count }) => sum + Number(count), 0),
        entries.length,
      )
      assert.equal(groups.filter(({ count }) => count === 451).length, 1)
    }
    assert.deepEqual(problemFields(await client.ask('/activity/groups?cursor=x')), ['cursor'])
  })

  test('groups only entries that match the filters', async () => {
    const { groups } = dataOf(await client.ask('/activity/groups?kind=subject.erased&actor=key_1'))
    const counts = listIn({ groups }, 'groups').map((group) => objectIn({ group }, 'group').count)
    assert.deepEqual(counts, [1, 1, 453], 'nothing else lies between the parts of a request')
  })
})

describe('erasures in groups', () => {
  test('have one line for each request, and every erasure once', async () => {
    const ids = Array.from({ length: 7 }, (_, i) => `v-${i}`)
    await shop.ingest(ids.flatMap((id) => visit(id, { events: 2 })))
    const subjects = ids.slice(0, 3).map((subjectId) => ({ trackerId: 'shop', subjectId }))
    const id = await eraseWithRequest(shop, client, { subjects }, 3)
    const actor = { kind: 'key' as const, id: 'key_1', name: 'key' }
    for (const [subjectId, requestId] of [
      ['v-3', 'one request'],
      ['v-4', 'one request'],
      ['v-5', null],
      ['v-6', null],
    ] as const) {
      await eraseSubject(services, shop.view, subjectId, { actor, requestId, organisationId })
    }
    const read = async (limit: number) => {
      const pages = await readPages('/erasures/groups', limit)
      return pages.flatMap(groupsIn).map(({ count, counts, newest, cursor }) => {
        const { index, request } = objectIn({ newest }, 'newest')
        const of = isObject(request) ? request.id : null
        return { index, count, events: objectIn({ counts }, 'counts').events, of, cursor }
      })
    }
    const all = await read(50)
    assert.deepEqual(
      all.map(({ cursor: _, ...group }) => group),
      [
        { index: 6, count: 1, events: 2, of: null },
        { index: 5, count: 1, events: 2, of: null },
        { index: 4, count: 2, events: 4, of: null },
        { index: 2, count: 3, events: 6, of: id },
      ],
    )
    for (const limit of [1, 2, 3]) assert.deepEqual(await read(limit), all)
    const page = dataOf(await client.ask(`/erasures?limit=2&cursor=${all[2]?.cursor}`))
    const listed = listIn(page, 'erasures').map((erasure) => objectIn({ erasure }, 'erasure').index)
    assert.deepEqual(listed, [4, 3], 'its cursor leads to its erasures')
  })

  test('have one line for a request with a no-data entry, and for a list with one request', async () => {
    await shop.ingest([
      ...visit('w-1', { events: 2, identifiers: { email: 'w1@example.com' } }),
      ...visit('w-2', { events: 3, identifiers: { email: 'w2@example.com' } }),
    ])
    const emails = (...values: string[]) => values.map((value) => ({ name: 'email', value }))
    const both = await eraseWithRequest(shop, client, {
      identifiers: emails('w1@example.com', 'nobody@example.com'),
    })
    await eraseWithRequest(shop, client, { identifiers: emails('w2@example.com') }, 1, 'List')
    const last = await eraseWithRequest(
      shop,
      client,
      { identifiers: emails('nowhere@example.com') },
      0,
      'List',
    )
    const { groups } = dataOf(await client.ask('/erasures/groups?limit=2'))
    assert.deepEqual(
      listIn({ groups }, 'groups')
        .filter(isObject)
        .map(({ newest, by, count, erased, counts, trackerIds }) => {
          const { kind, request } = objectIn({ newest }, 'newest')
          const actor = objectIn(objectIn({ by }, 'by'), 'actor')
          return [kind, objectIn({ request }, 'request').id, actor.kind, count, erased, counts, trackerIds]
        }),
      [
        ['nothing-held', last, 'member', 2, 1, { sessions: 1, events: 3 }, ['shop']],
        ['nothing-held', both, 'member', 2, 1, { sessions: 1, events: 2 }, ['shop']],
      ],
    )
  })
})
