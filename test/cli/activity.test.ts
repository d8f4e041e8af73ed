import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { activityRow } from '../../src/cli/commands/activity.ts'
import { activityKinds } from '../../src/domain/activity.ts'
import { assertRefused, type CommandLine, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'

const start = Date.parse('2026-11-01T00:00:00.000Z')
const minute = 60_000
const count = 450

/**
 * An organisation with more than two pages of activity: one entry a minute, by ada, a key and the command
 * line in turn.
 */
async function busyStore(cli: CommandLine): Promise<void> {
  await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme'])
  const store = await openStoreAt(`sqlite:${cli.storePath}`, { writesHere: true })
  const actors = [
    { kind: 'member', id: 'mem_1', name: 'ada@acme.example' },
    { kind: 'key', id: 'K1', name: 'nightly' },
    { kind: 'command-line' },
  ] as const
  try {
    for (let i = 0; i < count; i++) {
      await store.organisations.rename('acme', 'Acme', {
        ...{ id: `entry-${i}`, organisationId: 'acme', at: start + i * minute },
        actor: actors[i % 3] ?? actors[0],
        kind: i === 3 ? 'key.created' : 'organisation.renamed',
        target: i === 0 ? 'a\u001b[2Jb' : 'Acme',
        requestId: i % 100 === 0 ? 'req-1' : null,
      })
    }
  } finally {
    await store.close()
  }
}

describe('lethe activity', () => {
  const lifetime = inReverse({ after })
  const cli = commandLine(lifetime)
  before(() => busyStore(cli))

  const ids = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run(['activity', '--org', 'acme', '--json', ...args])
    assert.equal(code, 0, stderr)
    return jsonLines(stdout).map(({ id }) => Number(String(id).slice('entry-'.length)))
  }

  it('prints the newest fifty entries, and says if there are more', async () => {
    const { stdout, stderr } = await cli.run(['activity', '--org', 'acme', '--json'])
    const entries = jsonLines(stdout)
    assert.equal(entries.length, 50)
    assert.deepEqual(entries[0], {
      ...{ id: 'entry-449', at: '2026-11-01T07:29:00.000Z', kind: 'organisation.renamed' },
      actor: { kind: 'command-line' },
      ...{ target: 'Acme', requestId: null, counts: null, ledgerIndex: null },
    })
    assert.match(stderr, /^More results exist\. Use a larger --limit/)
  })

  it('prints all entries on request, over several pages, each once', async () => {
    const all = await ids('--limit', 'all')
    assert.deepEqual(
      all,
      Array.from({ length: count }, (_, i) => count - 1 - i),
    )
    assert.deepEqual((await ids('--limit', String(count))).length, count)
  })

  it('is filtered by time, with an inclusive start and an exclusive end', async () => {
    const at = (i: number) => new Date(start + i * minute).toISOString()
    assert.deepEqual(await ids('--since', at(446)), [449, 448, 447, 446])
    assert.deepEqual(await ids('--until', at(3)), [2, 1, 0])
    assert.deepEqual(await ids('--since', at(7), '--until', at(9)), [8, 7])
    assertRefused(
      await cli.run(['activity', '--org', 'acme', '--since', at(9), '--until', at(7)]),
      2,
      /--since must be before --until/,
    )
  })

  it('is filtered by kind, actor and request ID, which can be combined', async () => {
    assert.deepEqual(await ids('--kind', 'key.created'), [3])
    assert.deepEqual(await ids('--kind', 'key.created', 'key.revoked', '--actor', 'nightly'), [])
    assert.equal((await ids('--kind', 'key.created', 'organisation.renamed', '--limit', 'all')).length, count)
    const byAda = await ids('--actor', 'ada@acme.example', '--limit', 'all')
    assert.deepEqual(byAda, await ids('--actor', 'mem_1', '--limit', 'all'))
    assert.equal(byAda.length, count / 3)
    assert.equal((await ids('--actor', 'command-line', '--limit', 'all')).length, count / 3)
    assert.deepEqual(await ids('--request-id', 'req-1'), [400, 300, 200, 100, 0])
    assert.deepEqual(await ids('--request-id', 'req-1', '--actor', 'nightly'), [400, 100])
  })

  it('is a table for people, without control characters', async () => {
    const { stdout } = await cli.run(['activity', '--org', 'acme', '--request-id', 'req-1', '--limit', '2'])
    const [headings, newest] = stdout.split('\n')
    assert.match(headings ?? '', /^AT +KIND +WHO +WHAT$/)
    assert.match(
      newest ?? '',
      /^2026-11-01T06:40:00\.000Z {2}organisation\.renamed +nightly +Acme · request req-1$/,
    )
    const oldest = await cli.run(['activity', '--org', 'acme', '--until', '2026-11-01T00:01:00Z'])
    assert.match(oldest.stdout, /a\\u001b\[2Jb/)
    assert.equal(oldest.stderr, '')
    const erasure = { id: 'e', organisationId: 'acme', at: start, actor: { kind: 'command-line' } } as const
    const counts = { sessions: 1, events: 1_000 }
    const shown = activityRow({
      ...{ ...erasure, kind: 'subject.erased', target: 'shop', requestId: null, counts, ledgerIndex: 0 },
    })
    assert.match(shown, / shop · 1 session, 1,000 events$/m)
  })

  it('rejects an unknown organisation, an unknown kind and a limit of zero', async () => {
    assertRefused(await cli.run(['activity', '--org', 'none']), 1, /There is no organisation "none"/)
    const kind = await cli.run(['activity', '--org', 'acme', '--kind', 'key.made'])
    assertRefused(kind, 2, /key\.created.*key\.renamed/)
    assertRefused(
      await cli.run(['activity', '--org', 'acme', '--limit', '0']),
      2,
      /whole number of at least 1/,
    )
  })

  it('prints nothing for an organisation without activity', async () => {
    onlyJson(await cli.run(['orgs', 'create', '--name', 'Quiet', '--id', 'quiet', '--json']))
    const { code, stdout, stderr } = await cli.run(['activity', '--org', 'quiet', '--json'])
    assert.deepEqual([code, stdout, stderr], [0, '', ''])
  })

  it('completes every kind', async () => {
    const { stdout } = await cli.run(['completion', 'bash'])
    assert.ok(stdout.includes(activityKinds.join(' ')))
  })
})
