import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { assertRefused } from '../support/command-line.ts'
import {
  converter,
  convertFixture,
  convertFixtureText,
  convertSummary,
  convertToApi,
  linesOf,
} from '../support/convert.ts'

const salt = ['--salt-file', convertFixture('salt')]
const log = convertFixture('access.log')

function subjectsOf(lines: readonly Record<string, unknown>[]): Set<unknown> {
  return new Set(lines.map(({ subjectId }) => subjectId))
}

describe('lethe convert accesslog', { concurrency: true }, () => {
  it('converts a log to visitors in the API, with sessions divided at pauses, and without addresses', async (t) => {
    const { subjectIds, subject, lines } = await convertToApi(t, 'accesslog', [...salt, log])
    assert.equal(subjectIds.length, 4)
    assert.doesNotMatch(JSON.stringify(lines), /203\.0\.113\.7|198\.51\.100|2001:db8/)
    const subjects = await Promise.all(subjectIds.map(subject))
    const events = { method: 'GET', url: '/style.css', status: 200, bytes: 812 }
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const firefox = subjects.find(({ counts }) => Object(counts).events === 4)
    assert.partialDeepStrictEqual(firefox, {
      identifiers: [],
      attributes: { userAgent: agent },
      counts: { sessions: 2, events: 4 },
      sessions: [
        { startedAt: '2026-10-01T09:00:00.000Z', attributes: { referrer: 'https://search.example/?q=shop' } },
        { startedAt: '2026-10-01T09:45:00.000Z', counts: { events: 1 } },
      ],
    })
    const styles = Object(firefox).events.filter((each: { properties: { url: string } }) =>
      each.properties.url.endsWith('.css'),
    )
    assert.partialDeepStrictEqual(styles, [{ properties: events }, { properties: events }])
    const ada = subjects.find(({ identifiers }) => Object(identifiers).length > 0)
    assert.partialDeepStrictEqual(ada, {
      identifiers: [{ name: 'email', value: 'ada@example.com' }],
      attributes: { userAgent: 'Say "hello" \\ café' },
      events: [
        {
          name: 'request',
          occurredAt: '2026-10-01T09:10:00.000Z',
          properties: { method: 'POST', url: '/login', status: 302 },
        },
      ],
    })
  })

  it('generates other IDs with another salt, and other IDs every day with --daily', async (t) => {
    const { convert, file } = converter(t)
    const day = (number: number) =>
      `192.0.2.1 - - [0${number}/Oct/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "agent"\n`
    const two = file('two.log', `${day(1)}${day(2)}`)
    const ids = async (...args: string[]) => subjectsOf(linesOf(await convert('accesslog', ...args, two)))
    const same = await ids(...salt)
    assert.equal(same.size, 1)
    assert.equal((await ids(...salt, '--daily')).size, 2)
    const other = await ids('--salt-file', file('other', 'another salt of some bytes'))
    assert.equal(new Set([...same, ...other]).size, 2)
  })

  it('omits bots, static files and query strings on request', async (t) => {
    const { convert } = converter(t)
    const urls = async (...args: string[]) => {
      const outcome = await convert('accesslog', ...salt, ...args, log)
      const events = linesOf(outcome).filter(({ type }) => type === 'event')
      return events.map(({ properties }) => String(Object(properties).url))
    }
    assert.deepEqual(await urls('--skip-bots'), [
      '/?utm_source=news',
      '/style.css',
      '/style.css',
      '/login',
      '/shoes',
    ])
    assert.deepEqual(await urls('--skip-static'), [
      '/?utm_source=news',
      '/login',
      '/shoes',
      'undefined',
      '/robots.txt',
    ])
    const dropped = await convert('accesslog', ...salt, '--drop-query', log)
    assert.doesNotMatch(dropped.stdout, /utm_source|q=shop/)
    assert.match(dropped.stdout, /"referrer":"https:\/\/search\.example\/"/)
    const skipping = await convert('accesslog', ...salt, '--skip-bots', '--skip-static', '--json', log)
    assert.partialDeepStrictEqual(convertSummary(skipping), {
      records: 7,
      skipped: 4,
      unusable: 0,
      events: 3,
    })
  })

  it('needs a salt of at least 16 bytes, and explains how to create one', async (t) => {
    const { convert, file } = converter(t)
    assertRefused(await convert('accesslog', log), 2, /needs --salt-file: .* head -c 32 \/dev\/urandom/)
    const short = file('short', 'fifteen bytes..')
    assertRefused(await convert('accesslog', '--salt-file', short, log), 2, /needs a longer salt/)
    assertRefused(await convert('accesslog', '--salt-file', 'nowhere', log), 1, /Cannot read nowhere/)
  })

  const good = '192.0.2.1 - - [01/Oct/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "agent"'
  const bad: [string, string][] = [
    ['text', 'not a line of the common or combined log format'],
    [good.slice(0, 60), 'not a line of the common or combined log format'],
    [good.replace('01/Oct', '32/Oct'), 'the time is invalid'],
    [good.replace('Oct', 'Oktober'), 'the time is invalid'],
    [good.replace('192.0.2.1', '-'), 'the address is missing'],
    ['{"type":"event","subjectId":"a"}', 'not a line of the common or combined log format'],
  ]
  for (const [line, reason] of bad) {
    it(`reports a line that it cannot use, and continues: ${reason}, as in ${line}`, async (t) => {
      const { convert, file } = converter(t)
      const path = file('log', `${good}\n${line}\n${good}\n`)
      const outcome = await convert('accesslog', ...salt, path)
      assert.equal(outcome.code, 1)
      assert.equal(
        outcome.stderr,
        `1 record could not be used: ${reason} (first: ${path}:2).\nRead 3 records (1 unusable); wrote 1 session and 2 events.\n`,
      )
    })
  }

  it('never writes the address of a request, whatever else the line contains', async (t) => {
    const { convert, file } = converter(t)
    const lines = convertFixtureText('access.log').replaceAll(/^\S+/gm, '192.0.2.77')
    const outcome = await convert('accesslog', ...salt, file('log', lines))
    assert.doesNotMatch(outcome.stdout + outcome.stderr, /192\.0\.2\.77/)
    assert.ok(!outcome.stdout.includes(readFileSync(convertFixture('salt'), 'utf8')))
  })
})
