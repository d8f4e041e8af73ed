import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readTokenId, tokenStringPattern } from '../../src/domain/variable-token.ts'
import { assertRefused, type CommandLine, jsonLines, onlyJson, textOf } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

const withTracker = preparedStore(
  runCommands(
    ['orgs', 'create', '--name', 'Acme', '--id', 'acme'],
    ...['shop', 'blog'].map((id) => ['trackers', 'create', '--org', 'acme', '--name', id, '--id', id]),
  ),
)

const website = ['variable-tokens', 'create', '--tracker', 'shop', '--name', 'website']

async function listed(cli: CommandLine): Promise<Record<string, unknown>[]> {
  return jsonLines((await cli.run(['variable-tokens', 'list', '--tracker', 'shop', '--json'])).stdout)
}

describe('lethe variable-tokens create', { concurrency: true }, () => {
  it('prints {id, name, trackerId, token} with --json', async (t) => {
    const cli = await withTracker(t)
    const { id, token, ...rest } = onlyJson(await cli.run([...website, '--json']))
    assert.deepEqual(rest, { name: 'website', trackerId: 'shop' })
    assert.match(String(token), tokenStringPattern)
    assert.equal(readTokenId(String(token)), id)
  })

  it('prints only the token on standard output for people, and stores only its hash', async (t) => {
    const cli = await withTracker(t)
    const { code, stdout, stderr } = await cli.run(website)
    assert.equal(code, 0)
    const token = stdout.trimEnd()
    assert.match(token, tokenStringPattern)
    assert.match(stderr, /"website" \(ID [0-9A-Za-z]{16}\).*not shown again/)
    assert.ok(cli.holdsBytes(readTokenId(token) ?? 'nothing'), 'the ID is there, so the search works')
    assert.equal(cli.holdsBytes(token.slice('lethevar_'.length + 17)), false)
  })

  it('asks for the tracker and the name on a terminal, and requires them as options in a script', async (t) => {
    const cli = await withTracker(t)
    const asked = await cli.run(['variable-tokens', 'create', '--json'], { answers: ['shop', 'app'] })
    assert.partialDeepStrictEqual(onlyJson(asked), { name: 'app', trackerId: 'shop' })
    for (const flag of ['--tracker', '--name']) {
      const args = website.toSpliced(website.indexOf(flag), 2)
      assertRefused(await cli.run(args), 2, new RegExp(`${flag} is missing`))
    }
  })

  it('rejects an invalid or taken name and an unknown tracker', async (t) => {
    const cli = await withTracker(t)
    const named = (tracker: string, name: string) =>
      cli.run(['variable-tokens', 'create', '--tracker', tracker, '--name', name, '--json'])
    for (const name of ['', ' ', 'x'.repeat(65), 'a\nb']) {
      assertRefused(await named('shop', name), 1, /name must be 1 to 64 characters/)
    }
    assertRefused(await named('nowhere', 'website'), 1, /no tracker "nowhere"/)
    const id = textOf(onlyJson(await named('shop', 'website')), 'id')
    assertRefused(await named('shop', 'website'), 1, /already has an active token named "website"/)
    assert.equal((await named('blog', 'website')).code, 0, 'another tracker may use the name')
    await cli.run(['variable-tokens', 'revoke', id, '--name', 'website'])
    assert.equal((await named('shop', 'website')).code, 0, 'so may a successor')
    assert.deepEqual(
      (await listed(cli)).map(({ state }) => state),
      ['revoked', 'active'],
    )
  })
})

describe('lethe variable-tokens list', () => {
  it('prints everything except the string, in every state, for one tracker only', async (t) => {
    const cli = await withTracker(t)
    const issued = onlyJson(await cli.run([...website, '--json']))
    await cli.run(website.with(3, 'blog'))
    const [token, ...others] = await listed(cli)
    assert.deepEqual(others, [])
    const { createdAt, ...rest } = token ?? {}
    assert.match(String(createdAt), /Z$/)
    assert.deepEqual(rest, {
      ...{ id: issued.id, name: 'website', trackerId: 'shop', state: 'active' },
      lastFour: textOf(issued, 'token').slice(-4),
      ...{ rotatedAt: null, revokedAt: null, lastUsedAt: null },
    })
    const { stdout } = await cli.run(['variable-tokens', 'list', '--tracker', 'shop'])
    assert.match(
      stdout,
      /^ID +NAME +ENDS IN +STATE +CREATED +LAST USED\n\w{16} +website +…\w{4} +active +\S+Z +never\n$/,
    )
    assertRefused(
      await cli.run(['variable-tokens', 'list', '--tracker', 'nowhere']),
      1,
      /no tracker "nowhere"/,
    )
    assertRefused(await cli.run(['variable-tokens', 'list']), 2, /--tracker/)
  })
})

describe('lethe variable-tokens rotate', () => {
  it('prints the same token with another string after a yes, and otherwise changes nothing', async (t) => {
    const cli = await withTracker(t)
    const { token: old, ...before } = onlyJson(await cli.run([...website, '--json']))
    const rotate = ['variable-tokens', 'rotate', String(before.id)]
    const stored = await listed(cli)
    for (const answer of ['', 'y', 'no']) {
      const outcome = await cli.run(rotate, { answers: [answer] })
      assertRefused(outcome, 1, /Nothing was changed/)
      assert.match(outcome.asked.join(), new RegExp(`"website" that ends in ${String(old).slice(-4)} `))
    }
    assertRefused(await cli.run(rotate), 2, /--yes is missing/)
    assert.deepEqual(await listed(cli), stored)
    const { token, ...after } = onlyJson(await cli.run([...rotate, '--yes', '--json']))
    assert.deepEqual(after, before)
    assert.notEqual(token, old)
    assert.equal(readTokenId(String(token)), before.id)
    assert.partialDeepStrictEqual(await listed(cli), [{ lastFour: String(token).slice(-4), state: 'active' }])
    assertRefused(
      await cli.run(['variable-tokens', 'rotate', 'none', '--yes']),
      1,
      /no variable token "none"/,
    )
  })
})

describe('lethe variable-tokens revoke', () => {
  it('revokes a token permanently if its name is given; another name changes nothing', async (t) => {
    const cli = await withTracker(t)
    const id = textOf(onlyJson(await cli.run([...website, '--json'])), 'id')
    const revoke = ['variable-tokens', 'revoke', id]
    for (const answer of ['', 'Website', 'yes']) {
      assertRefused(await cli.run(revoke, { answers: [answer] }), 1, /nothing was revoked/)
      assertRefused(await cli.run([...revoke, '--name', answer, '--json']), 1, /nothing was revoked/)
    }
    assertRefused(await cli.run(revoke), 2, /--name is missing/)
    assert.partialDeepStrictEqual(await listed(cli), [{ state: 'active' }])
    const revoked = await cli.run([...revoke, '--json'], { answers: ['website'] })
    assert.partialDeepStrictEqual(onlyJson(revoked), {
      id,
      name: 'website',
      trackerId: 'shop',
      state: 'revoked',
    })
    assert.match(revoked.asked.join(), /"website" will stop working immediately and permanently/)
    assertRefused(await cli.run([...revoke, '--name', 'website']), 1, /"website" is revoked/)
    assertRefused(await cli.run(['variable-tokens', 'rotate', id, '--yes']), 1, /"website" is revoked/)
    assertRefused(
      await cli.run(['variable-tokens', 'revoke', 'none', '--name', 'x']),
      1,
      /no variable token "none"/,
    )
  })
})

describe('the journal', () => {
  it('contains each rotation and revocation of a token, without its string', async (t) => {
    const cli = await withTracker(t)
    const journal = join(cli.folder, 'lethe.journal')
    const env = { LETHE_JOURNAL: journal }
    const id = textOf(onlyJson(await cli.run([...website, '--json'], { env })), 'id')
    const rotated = onlyJson(await cli.run(['variable-tokens', 'rotate', id, '--yes', '--json'], { env }))
    const { revokedAt } = onlyJson(
      await cli.run(['variable-tokens', 'revoke', id, '--name', 'website', '--json'], { env }),
    )
    const text = readFileSync(journal, 'utf8')
    const [rotation, revocation] = jsonLines(text.replaceAll(/^\n/gm, ''))
    const lastFour = textOf(rotated, 'token').slice(-4)
    assert.partialDeepStrictEqual(rotation, { kind: 'variable-token.rotated', tokenId: id, lastFour })
    assert.deepEqual(revocation, { kind: 'variable-token.revoked', tokenId: id, at: revokedAt })
    assert.equal(text.includes(textOf(rotated, 'token').slice(26)), false)
  })
})
