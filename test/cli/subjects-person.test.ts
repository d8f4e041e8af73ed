import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { listIn, textIn } from '../support/answers.ts'
import { assertRefused, jsonLines, onlyJson } from '../support/command-line.ts'
import { startRemoteShop } from '../support/remote-shop.ts'
import { visit } from '../support/shop.ts'

const ada = 'email=ADA@example.com'

/** A person with three subjects on two trackers, and another person. */
async function withAda(t: TestContext, env: Record<string, string> = {}) {
  const shop = await startRemoteShop(t, { env })
  await shop.createTracker(shop.organisationId, 'blog')
  const known = (subjectId: string, trackerId: string, email: string) =>
    visit(subjectId, { trackerId, events: 2 }).map((row) => ({ ...row, identifiers: { email } }))
  await shop.ingest([
    ...known('anna', 'shop', 'ada@example.com'),
    ...known('a/b 🦦', 'shop', 'Ada@Example.com'),
    ...known('reader', 'blog', 'ada@example.com'),
    ...known('ben', 'shop', 'ben@example.com'),
  ])
  return shop
}

describe('lethe subjects find', { concurrency: true }, () => {
  it('shows the subjects of a person by tracker, as a table or one JSON object per line', async (t) => {
    const { subjects } = await withAda(t)
    const { code, stdout } = await subjects(['find', ada])
    assert.equal(code, 0)
    const [headings, ...lines] = stdout.trimEnd().split('\n')
    assert.match(headings ?? '', /^TRACKER {2,}SUBJECT {2,}FIRST SEEN {2,}LAST SEEN {2,}SESSIONS {2}EVENTS$/)
    assert.equal(lines.length, 3)
    assert.match(lines[0] ?? '', /^blog {2,}reader {2,}\S+Z {2}\S+Z {2}1 {9}2$/)
    const found = jsonLines((await subjects(['find', ada, '--json'])).stdout)
    assert.deepEqual(found.map(({ subjectId }) => subjectId).sort(), ['a/b 🦦', 'anna', 'reader'])
    const byId = jsonLines((await subjects(['find', '--subject', 'anna', '--json'])).stdout)
    assert.deepEqual(
      byId.map(({ trackerId }) => trackerId),
      ['shop'],
    )
    assert.equal((await subjects(['find', 'email=nobody@example.com', '--json'])).stdout, '')
  })

  it('requires exactly one valid search term', async (t) => {
    const { subjects } = await withAda(t)
    assertRefused(await subjects(['find']), 2, /Specify an identifier as name=value/)
    assertRefused(
      await subjects(['find', ada, '--subject', 'anna']),
      2,
      /Specify an identifier as name=value/,
    )
    for (const wrong of ['ada@example.com', 'Email=x', 'email='])
      assertRefused(await subjects(['find', wrong]), 2, /name=value/)
  })

  it('shows the identifiers of a subject with its record', async (t) => {
    const { subjects } = await withAda(t)
    const { stdout } = await subjects(['show', 'shop', 'anna'])
    assert.match(stdout, /^Identifier email {2}ada@example\.com$/m)
  })
})

describe('lethe subjects export --by', { concurrency: true }, () => {
  it('writes a private file for each subject, and an index', async (t) => {
    const { subjects, cli } = await withAda(t)
    const folder = join(cli.folder, 'ada')
    const { code, stdout } = await subjects(['export', '--by', ada, '--output', folder])
    assert.equal(code, 0)
    assert.match(stdout, /^Wrote 3 data subjects and index\.json to /)
    const index: unknown = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
    const files = listIn(index, 'subjects').map((each) => textIn(each, 'file'))
    assert.deepEqual(readdirSync(folder).sort(), [...files, 'index.json'].sort())
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    for (const file of files) {
      assert.match(file, /^(shop|blog)_[\w.-]+_[0-9a-f]{8}\.json$/)
      assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600)
      const { events } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      assert.equal(events.length, 2)
    }
    assertRefused(await subjects(['export', '--by', ada, '--output', folder]), 1, /already exists/)
  })

  it('requires a folder, and no tracker', async (t) => {
    const { subjects } = await withAda(t)
    for (const args of [['--by', ada], ['--by', ada, '--output', '-'], ['shop', '--by', ada], ['shop']])
      assertRefused(
        await subjects(['export', ...args]),
        2,
        /Specify a tracker and a data subject, or a person/,
      )
  })
})

describe('lethe subjects erase --by', { concurrency: true }, () => {
  it('shows the subjects, asks, erases all of them, and keeps their receipts', async (t) => {
    const shop = await withAda(t)
    const { subjects, cli } = shop
    const folder = join(cli.folder, 'receipts')
    const args = ['erase', '--by', ada, '--receipts', folder]
    const refused = await subjects(args, { answers: ['2'] })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /Not confirmed\. Nothing was erased/)
    const { code, stdout, stderr, asked } = await subjects(args, { answers: ['3'] })
    assert.equal(code, 0)
    assert.match(stderr, /^TRACKER(.*\n)+/)
    assert.deepEqual(asked, ['This cannot be undone. Type the number of data subjects, 3, to erase them: '])
    assert.equal(stdout, 'Erased 3 subjects: 3 sessions and 6 events.\n')
    const key = (await cli.run(['receipts', 'key'], { env: shop.env })).stdout.trim().split('\n')
    const receipts = readdirSync(folder)
    assert.equal(receipts.length, 3)
    for (const file of receipts) {
      const text = readFileSync(join(folder, file), 'utf8')
      const counts = { sessions: 1, events: 2 }
      assert.partialDeepStrictEqual((await verifyReceipt(text, { verifierKeys: key })).record, { counts })
    }
    assert.equal((await subjects(['find', ada, '--json'])).stdout, '')
    assert.equal(jsonLines((await subjects(['find', 'email=ben@example.com', '--json'])).stdout).length, 1)
    const again = await subjects(['erase', '--by', ada, '--yes'])
    assert.deepEqual([again.code, again.stdout], [0, ''])
    assert.match(again.stderr, /Nobody was found\. Nothing was erased/)
  })

  it('erases data hidden by a shorter plan, which a search and a dry run mention', async (t) => {
    const { subjects, services, ingest, organisationId, cli } = await startRemoteShop(t)
    const { organisations, retention, retentionDays, activityDays, clock } = services
    const setPlan = async (plan: 'pro' | 'free') => {
      await organisations.setPlan(organisationId, plan)
      await retention.settleWindows({ policy: { retentionDays, activityDays }, now: clock(), rule: 'grace' })
    }
    await setPlan('pro')
    const startedAt = Date.now() - 300 * 86_400_000
    const identifiers = { email: 'ada@example.com' }
    await ingest([...visit('anna-old', { startedAt, identifiers }), ...visit('anna', { identifiers })])
    await setPlan('free')
    const hint = /^A shorter plan hides 1 data subject of this person\. Hidden data is still stored/m
    const found = await subjects(['find', ada, '--json'])
    assert.equal(jsonLines(found.stdout).length, 1)
    assert.match(found.stderr, hint)
    const exported = await subjects(['export', '--by', ada, '--output', join(cli.folder, 'ada')])
    assert.match(exported.stderr, hint)
    const planned = await subjects(['erase', '--by', ada, '--dry-run', '--json'])
    assert.match(planned.stderr, hint)
    assert.deepEqual(onlyJson(planned).hidden, [{ trackerId: 'shop', subjectId: 'anna-old' }])
    const one = await subjects(['erase', 'shop', 'anna-old', '--dry-run', '--json'])
    assert.deepEqual(onlyJson(one), { trackerId: 'shop', subjectId: 'anna-old', hidden: true, dryRun: true })
    const asked = await subjects(['erase', 'shop', 'anna-old'], { answers: ['no'] })
    assert.match(asked.stderr, /^A shorter plan hides the data of this data subject/)
    const { code, stdout } = await subjects(['erase', '--by', ada], { answers: ['2'] })
    assert.equal(code, 0)
    assert.match(stdout, /^Erased 2 subjects: /)
    await setPlan('pro')
    assert.deepEqual(await subjects(['find', ada, '--json']).then(({ stdout }) => stdout), '')
  })

  it('erases nothing in a dry run', async (t) => {
    const { subjects } = await withAda(t)
    const { subjects: found, dryRun } = onlyJson(
      await subjects(['erase', '--by', ada, '--dry-run', '--json']),
    )
    assert.equal(dryRun, true)
    assert.ok(Array.isArray(found))
    assert.equal(found.length, 3)
    assert.equal(jsonLines((await subjects(['find', ada, '--json'])).stdout).length, 3)
  })

  it('creates a request with a reference, which continues in the service', async (t) => {
    const { subjects, requests } = await withAda(t, { LETHE_LIMIT_ERASURE: '1/hour' })
    const args = ['erase', '--by', ada, '--yes', '--no-wait', '--reference', 'ticket 1', '--json']
    const { request, subjects: found } = onlyJson(await subjects(args))
    assert.ok(Array.isArray(found))
    assert.equal(found.length, 3)
    assert.partialDeepStrictEqual(request, { kind: 'erasure', state: 'running', reference: 'ticket 1' })
    const [listed, ...others] = jsonLines((await requests(['list', '--json'])).stdout)
    assert.partialDeepStrictEqual(listed, { reference: 'ticket 1', erased: { subjects: 1 } })
    assert.deepEqual(others, [])
  })

  it('leaves no open request if the key may not erase', async (t) => {
    const scopes = ['analytics:view', 'analytics:manage-requests'] as const
    const { subjects, requests, ingest } = await startRemoteShop(t, { scopes })
    await ingest(visit('anna', { identifiers: { email: 'ada@example.com' } }))
    const refused = await subjects(['erase', '--by', ada, '--yes'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^Nothing was erased\. The request \S+ was cancelled\.$/m)
    assert.match(refused.stderr, /lacks the scope analytics:delete-data/)
    const listed = jsonLines((await requests(['list', '--json'])).stdout)
    assert.deepEqual(
      listed.map(({ state }) => state),
      ['cancelled'],
    )
  })
})
