import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type CommandLine, commandLine } from '../support/command-line.ts'
import { convertFixture } from '../support/convert.ts'
import { peakOfProgram } from '../support/peak-memory.ts'

function writeTimes(cli: CommandLine, name: string, parts: readonly string[], times: number): string {
  const [start = '', block = '', end = ''] = parts
  const path = join(cli.folder, name)
  const file = openSync(path, 'w')
  writeSync(file, start)
  for (let i = 0; i < times; i++) writeSync(file, block)
  writeSync(file, end)
  closeSync(file)
  return path
}

describe('the memory of lethe convert', { concurrency: true }, () => {
  const visit = (number: number) => ({
    visitorId: `visitor-${number}`,
    idVisit: number,
    serverTimestamp: 1_790_850_000 + number,
    unused: 'x'.repeat(1_500),
  })
  const visits = JSON.stringify(Array.from({ length: 500 }, (_, i) => visit(i)))
  const row = `event,v,s,,go,2026-10-01 09:00:00,,"a\nb",,,,${'x'.repeat(1_500)},\n`
  const header = 'kind,visitor,visit,id,action,time,end,page,price,member,mail,country,note\n'
  const map = ['--map', convertFixture('visits.map.json')]
  /**
   * Files of 35 MB with short records, and of 120 MB with one that is too long; the last number is the
   * allowed memory.
   */
  const cases: [string, readonly string[], readonly string[], number, number][] = [
    ['matomo', [], ['[', `${visits.slice(1, -1)},`, `${JSON.stringify(visit(0))}]`], 45, 45],
    ['csv', map, [header, row.repeat(500), ''], 45, 45],
    ['matomo', [], ['[{"x":"', 'x'.repeat(1_000_000), `"},${JSON.stringify(visit(0))}]`], 120, 60],
    ['csv', map, [header, '"'.padEnd(1_000_000, 'x'), `\n${row}`], 120, 60],
  ]
  for (const [format, options, parts, times, moreMb] of cases) {
    const block = parts[1]?.slice(0, 20)
    it(`does not depend on the size of the file or of a record: ${format} with many times ${block}…`, async (t) => {
      const cli = commandLine(t)
      const peakFor = (count: number) => {
        const file = writeTimes(cli, `file-${count}`, parts, count)
        return peakOfProgram(cli, ['convert', format, ...options, file], '--max-old-space-size=48')
      }
      const small = await peakFor(1)
      const large = await peakFor(times)
      t.diagnostic(`${small.peak.toFixed()} MB, then ${large.peak.toFixed()} MB`)
      assert.match(large.outcome.stderr, /Read [\d,]+ records? \([01] unusable/)
      assert.ok(large.peak < small.peak + moreMb, `${small.peak} MB, then ${large.peak} MB`)
    })
  }
})
