import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { keptVersions, maxVariables } from '../../src/domain/variable.ts'
import { assertRefused, type CommandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

const onShop = ['--tracker', 'shop']
const withTracker = preparedStore(
  runCommands(
    ['orgs', 'create', '--name', 'Acme', '--id', 'acme'],
    ['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'shop'],
    ['variables', 'set', ...onShop, 'banner={"text":"Sale","until":null}', 'limit=3'],
  ),
)
const initial = { banner: { text: 'Sale', until: null }, limit: 3 }

function variables(cli: CommandLine, ...args: readonly string[]) {
  return cli.run(['variables', ...args, ...onShop])
}

async function exported(cli: CommandLine): Promise<unknown> {
  return JSON.parse((await variables(cli, 'export')).stdout)
}

async function versionsOf(cli: CommandLine): Promise<unknown[]> {
  return jsonLines((await variables(cli, 'versions', '--json')).stdout).map(({ version }) => version)
}

function fileWith(cli: CommandLine, content: string | Uint8Array): string {
  const file = join(cli.folder, 'variables.json')
  writeFileSync(file, content)
  return file
}

describe('lethe variables list, get and export', { concurrency: true }, () => {
  it('print the current variables as JSON, ordered by name', async (t) => {
    const cli = await withTracker(t)
    const listed = await variables(cli, 'list', '--json')
    assert.deepEqual(
      jsonLines(listed.stdout),
      Object.entries(initial).map(([name, value]) => ({ name, value })),
    )
    const got = onlyJson(await variables(cli, 'get', 'banner', '--json'))
    assert.deepEqual(got, { name: 'banner', value: initial.banner, version: 1 })
    assert.deepEqual(onlyJson(await variables(cli, 'export', '--json')), initial)
  })

  it('print them readably for people, with long values shortened in the list only', async (t) => {
    const cli = await withTracker(t)
    await variables(cli, 'set', `text=${JSON.stringify('long '.repeat(20))}`)
    const { stdout } = await variables(cli, 'list')
    assert.match(stdout, /^NAME +VALUE\nbanner +\{"text":"Sale","until":null\}\nlimit +3\n/)
    assert.match(stdout, /\ntext +"long (long )+.*…\n$/)
    const got = await variables(cli, 'get', 'banner')
    assert.equal(got.stdout, '{\n  "text": "Sale",\n  "until": null\n}\n')
    await variables(cli, 'unset', 'text')
    assert.equal((await variables(cli, 'export')).stdout, `${JSON.stringify(initial, null, 2)}\n`)
  })

  it('print nothing of another tracker, and fail for an unknown one', async (t) => {
    const cli = await withTracker(t)
    await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Blog', '--id', 'blog'])
    const onBlog = ['--tracker', 'blog', '--json']
    assert.equal((await cli.run(['variables', 'list', ...onBlog])).stdout, '')
    assert.deepEqual(onlyJson(await cli.run(['variables', 'export', ...onBlog])), {})
    assert.equal((await cli.run(['variables', 'versions', ...onBlog])).stdout, '')
    assertRefused(await variables(cli, 'get', 'Limit', '--json'), 1, /no variable "Limit"/)
    const commands = ['list', 'export', 'versions', 'get x', 'set x=1', 'unset x', 'restore 1']
    for (const words of commands) {
      const outcome = await cli.run(['variables', ...words.split(' '), '--tracker', 'nowhere', '--json'])
      assertRefused(outcome, 1, /no tracker "nowhere"/)
      assertRefused(await cli.run(['variables', ...words.split(' ')]), 2, /--tracker/)
    }
  })
})

describe('lethe variables set', { concurrency: true }, () => {
  it('merges the given variables in one version and prints every change as JSON', async (t) => {
    const cli = await withTracker(t)
    const set = await variables(
      cli,
      'set',
      'limit=5',
      'greeting="hello = ciao"',
      'banner={"until":null,"text":"Sale"}',
      '--json',
    )
    assert.deepEqual(onlyJson(set), {
      trackerId: 'shop',
      version: 2,
      changes: [
        { kind: 'added', name: 'greeting', after: 'hello = ciao' },
        { kind: 'changed', name: 'limit', before: 3, after: 5 },
      ],
    })
    assert.deepEqual(await exported(cli), { ...initial, greeting: 'hello = ciao', limit: 5 })
  })

  it('shows old and new values, shortened around their first difference', async (t) => {
    const cli = await withTracker(t)
    const text = `${'very '.repeat(20)}long`
    await variables(cli, 'set', `text=${JSON.stringify(`${text} old`)}`)
    const { stdout } = await variables(
      cli,
      'set',
      `text=${JSON.stringify(`${text} new`)}`,
      'control="\\u009b2J"',
    )
    const [heading, control, changed, summary] = stdout.split('\n')
    assert.match(heading ?? '', /^CHANGE +NAME +BEFORE +AFTER$/)
    assert.match(control ?? '', /^added +control +"\\u009b2J"$/)
    assert.match(changed ?? '', /^changed +text +….*long old" +….*long new"$/)
    assert.equal(summary, 'Saved version 3: 1 added, 1 changed, 0 removed.')
  })

  it('adds no version if nothing changes', async (t) => {
    const cli = await withTracker(t)
    const { stdout } = await variables(cli, 'set', 'limit=3.0', 'banner={"until":null,"text":"Sale"}')
    assert.equal(stdout, 'Nothing was changed. The current version is 1.\n')
    assert.deepEqual(await versionsOf(cli), [1])
  })

  it('reads an object from a file, with a byte order mark and a value of 64 KiB', async (t) => {
    const cli = await withTracker(t)
    const large = 'x'.repeat(64 * 1024 - 2)
    const file = fileWith(cli, `\ufeff${JSON.stringify({ large, läden: 1 }).replace('läden', 'shops')}\n`)
    assert.equal(onlyJson(await variables(cli, 'set', '--file', file, '--json')).version, 2)
    assert.deepEqual(await exported(cli), { ...initial, large, shops: 1 })
  })

  it('explains how to write text if the quotes are missing', async (t) => {
    const cli = await withTracker(t)
    const set = (assignment: string) => variables(cli, 'set', 'limit=5', assignment)
    assertRefused(await set('greeting=hello'), 1, /for text, write greeting='"hello"'$/m)
    assertRefused(await set(`greeting=it's`), 1, /for text, write greeting='"it'\\''s"'$/m)
    assertRefused(await set('greeting='), 1, /for text, write greeting='""'$/m)
    assert.deepEqual(await exported(cli), initial)
  })

  it('requires either assignments or a file, as a usage error', async (t) => {
    const cli = await withTracker(t)
    assertRefused(await variables(cli, 'set'), 2, /either NAME=JSON or --file/)
    assertRefused(await variables(cli, 'set', 'a=1', '--file', 'x'), 2, /either NAME=JSON or --file/)
    assertRefused(await variables(cli, 'set', 'a=1', 'limit', '--json'), 2, /NAME=JSON, not "limit"/)
    assert.deepEqual(await exported(cli), initial)
  })
})

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const many = (count: number, value: unknown) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, number) => [`v${number}`, value])))

const badAssignments: [what: string, assignments: string[], reason: RegExp][] = [
  ['a name that starts with a digit', ['1st=1'], /"1st" is not a valid name/],
  ['a name with a space', ['a b=1'], /"a b" is not a valid name/],
  ['a name with a line break', ['a\nb=1'], /"a\\nb" is not a valid name/],
  ['no name', ['=1'], /"" is not a valid name/],
  ['the name __proto__', ['__proto__=1'], /"__proto__" is not a valid name/],
  ['a name of 65 characters', [`${'n'.repeat(65)}=1`], /"n{64}…" is not a valid name/],
  ['a name given twice', ['a=1', 'a=2'], /a is given twice/],
  ['a repeated member', ['a={"x":1,"\\u0078":2}'], /"\\u0078" is repeated/],
  ['an open object', ['a={"x":1'], /a: it is not valid JSON/],
  ['a number beyond doubles', ['a=[1e999]'], /1e999 is too large/],
  ['an integer beyond doubles', ['a=9007199254740993'], /9007199254740993 is too large to be exact/],
]

const badFiles: [what: string, content: string | Uint8Array, reason: RegExp][] = [
  ['nothing', '', /not valid JSON/],
  ['text with control characters', '\u001b[2J\n\n', /Unexpected token .*\\u001b/],
  ['a list', '[1]', /must be a JSON object/],
  ['null', 'null', /must be a JSON object/],
  ['two objects', '{"a":1}\n{"b":2}', /not valid JSON/],
  ['a repeated name', '{"a":1,\n"b":2,\n"a":3}', /line 3: "a" is repeated/],
  ['a trailing comma', '{\n"a":1,\n}', /not valid JSON/],
  [
    'no UTF-8',
    Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
    /Cannot read .*not valid for encoding/,
  ],
  ['more than 16 MiB', new Uint8Array(16 * 1024 * 1024 + 1).fill(0x20), /it is larger than 16 MiB/],
  ['a bad name among good ones', '{"a":1,"b c":2}', /"b c" is not a valid name/],
  ['a value of 33 levels', `{"a":${nested(33)}}`, /a has more than 32 levels/],
  ['a value of 100,000 levels', `{"a":${nested(100_000)}}`, /a has more than 32 levels/],
  ['a value over 64 KiB', JSON.stringify({ a: 'x'.repeat(65_536) }), /a has 65538 bytes.*64 KiB/],
  ['1,001 variables', many(maxVariables + 1, 1), /at most 1000 variables, not 1001/],
  ['more than 1 MiB together', many(17, 'x'.repeat(65_000)), /at most 1 MiB together/],
]

describe('invalid variables', () => {
  let cli: CommandLine
  before(async () => {
    cli = await withTracker({ after })
  })

  for (const [what, assignments, reason] of badAssignments) {
    it(`are rejected on the command line: ${what}`, async () => {
      assertRefused(await variables(cli, 'set', 'limit=9', ...assignments, '--json'), 1, reason)
    })
  }

  for (const [what, content, reason] of badFiles) {
    it(`are rejected in a file: ${what}`, async () => {
      const file = fileWith(cli, content)
      assertRefused(await variables(cli, 'set', '--file', file), 1, reason)
      assertRefused(await variables(cli, 'import', file, '--json'), 1, reason)
    })
  }

  it('change nothing', async () => {
    assert.deepEqual([await exported(cli), await versionsOf(cli)], [initial, [1]])
  })
})

describe('input for variables', { concurrency: true }, () => {
  it('that exceeds a limit together with the stored variables is rejected by set', async (t) => {
    const cli = await withTracker(t)
    assertRefused(await variables(cli, 'set', '--file', fileWith(cli, many(999, 1))), 1, /not 1001/)
    assert.equal((await variables(cli, 'set', '--file', fileWith(cli, many(998, 1)))).code, 0)
    assertRefused(await variables(cli, 'set', 'more=1'), 1, /not 1001/)
  })

  it('that cannot be read is rejected', async (t) => {
    const cli = await withTracker(t)
    for (const file of [join(cli.folder, 'nothing.json'), cli.folder]) {
      assertRefused(await variables(cli, 'set', '--file', file), 1, /Cannot read /)
      assertRefused(await variables(cli, 'import', file, '--yes'), 1, /Cannot read /)
    }
  })
})

describe('lethe variables unset', () => {
  it('removes variables in one version, and nothing if one of them is unknown', async (t) => {
    const cli = await withTracker(t)
    assertRefused(
      await variables(cli, 'unset', 'limit', 'Banner', 'x', '--json'),
      1,
      /no variable "Banner".*no variable "x"/,
    )
    assert.deepEqual(await exported(cli), initial)
    const unset = onlyJson(await variables(cli, 'unset', 'limit', 'banner', 'limit', '--json'))
    const removed = Object.entries(initial).map(([name, before]) => ({ kind: 'removed', name, before }))
    assert.deepEqual(unset, { trackerId: 'shop', version: 2, changes: removed })
    assert.deepEqual(await exported(cli), {})
  })
})

describe('lethe variables import', { concurrency: true }, () => {
  it('changes nothing with the output of export, also through a pipe', async (t) => {
    const cli = await withTracker(t)
    const { stdout } = await variables(cli, 'export')
    const piped = await cli.runProgram(['variables', 'import', '-', ...onShop, '--json'], { input: stdout })
    assert.deepEqual(onlyJson(piped), { trackerId: 'shop', version: 1, changes: [] })
    const removing = await cli.runProgram(['variables', 'import', '-', ...onShop], { input: '{}' })
    assert.equal(removing.code, 2)
    assert.match(removing.stderr, /^2 variables will be removed: banner, limit\.\nerror: --yes is missing/)
    const { stdout: compact } = await variables(cli, 'export', '--json')
    assert.equal((await variables(cli, 'import', fileWith(cli, compact))).code, 0)
    assert.deepEqual(await versionsOf(cli), [1])
  })

  it('prints what it would remove and asks; anything but yes changes nothing', async (t) => {
    const cli = await withTracker(t)
    const args = ['variables', 'import', fileWith(cli, '{"limit":4,"new":[]}'), ...onShop]
    const refused = await cli.run(args, { answers: ['y'] })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^1 variable will be removed: banner\.\nerror: .*Nothing was changed/)
    assert.equal((await cli.run(args)).code, 2)
    assert.deepEqual(await exported(cli), initial)
    const imported = await cli.run(args, { answers: ['yes'] })
    assert.match(imported.stdout, /\nSaved version 2: 1 added, 1 changed, 1 removed\.\n$/)
    assert.deepEqual(await exported(cli), { limit: 4, new: [] })
  })

  it('does not ask if nothing is removed, or with --yes', async (t) => {
    const cli = await withTracker(t)
    const adding = fileWith(cli, JSON.stringify({ ...initial, limit: 7 }))
    assert.equal(onlyJson(await variables(cli, 'import', adding, '--json')).version, 2)
    const emptied = await variables(cli, 'import', fileWith(cli, '{}'), '--yes', '--json')
    assert.equal(emptied.stderr, '')
    assert.deepEqual(await exported(cli), {})
  })

  it('fails if the variables change while it asks', async (t) => {
    const cli = await withTracker(t)
    const args = ['variables', 'import', fileWith(cli, '{"limit":4}'), ...onShop]
    const answer = async () => {
      await variables(cli, 'set', 'added=true')
      return 'yes'
    }
    const outcome = await cli.run(args, { answers: [answer] })
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /changed meanwhile; the current version is 2/)
    assert.deepEqual(await exported(cli), { ...initial, added: true })
  })
})

describe('lethe variables versions and restore', { concurrency: true }, () => {
  it('versions prints who changed how many when, newest first', async (t) => {
    const cli = await withTracker(t)
    await variables(cli, 'set', 'limit=4', 'a=1')
    const versions = jsonLines((await variables(cli, 'versions', '--json')).stdout)
    const actor = { kind: 'command-line' }
    assert.deepEqual(
      versions.map(({ changedAt, ...rest }) => [typeof changedAt, rest]),
      [
        ['string', { version: 2, actor, added: 1, changed: 1, removed: 0 }],
        ['string', { version: 1, actor, added: 2, changed: 0, removed: 0 }],
      ],
    )
    const { stdout } = await variables(cli, 'versions')
    assert.match(
      stdout,
      /^VERSION +CHANGED AT +WHO +ADDED +CHANGED +REMOVED\n2 +\S+Z +command-line +1 +1 +0\n/,
    )
  })

  it('restore makes an earlier version the newest, and the last 20 are kept', async (t) => {
    const cli = await withTracker(t)
    for (let number = 0; number < keptVersions; number++) await variables(cli, 'set', `limit=${100 + number}`)
    assert.deepEqual(
      await versionsOf(cli),
      Array.from({ length: keptVersions }, (_, index) => keptVersions + 1 - index),
    )
    assertRefused(await variables(cli, 'restore', '1'), 1, /Version 1 .* is not kept/)
    assertRefused(await variables(cli, 'restore', '99', '--json'), 1, /Version 99 .* is not kept/)
    for (const text of ['0', 'latest', '1.5']) {
      assertRefused(await variables(cli, 'restore', text), 2, /number of a version/)
    }
    const restored = onlyJson(await variables(cli, 'restore', '2', '--json'))
    const change = { kind: 'changed', name: 'limit', before: 119, after: 100 }
    assert.deepEqual(restored, { trackerId: 'shop', version: 22, changes: [change] })
    assert.deepEqual(await exported(cli), { ...initial, limit: 100 })
  })

  it('restore leaves an entry in the activity for each change, without names or values', async (t) => {
    const cli = await withTracker(t)
    await variables(cli, 'set', 'telltale="telltale"')
    const { stdout } = await cli.run(['activity', '--org', 'acme', '--kind', 'variables.changed', '--json'])
    assert.deepEqual(
      jsonLines(stdout).map(({ target }) => target),
      ['shop, version 2', 'shop, version 1'],
    )
  })
})
