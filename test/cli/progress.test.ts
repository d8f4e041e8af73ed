import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { importProgress, Progress, type ProgressState, progressBar } from '../../src/cli/progress.ts'

const half: ProgressState = { lines: 1_234_567, bytesRead: 500, totalBytes: 1_000 }
const pipe: ProgressState = { ...half, totalBytes: null }
const progressFacts = (state: ProgressState, elapsedMs: number) => importProgress(state, elapsedMs).facts

/** Progress under a clock of its own, with all it said. */
function watched(columns: number | null) {
  const said: string[] = []
  let now = 0
  const terminal = {
    env: {},
    print: assert.fail,
    pour: () => assert.fail(),
    ask: assert.fail,
    tell: (line: string) => said.push(line),
    draw: (line: string) => said.push(`drawn: ${line}`),
    columns: () => columns,
  }
  const view = (elapsedMs: number) => importProgress(half, elapsedMs)
  const progress = new Progress(terminal, () => now, { view })
  const passTime = (ms: number) => {
    now += ms
    progress.tick()
  }
  return { said, progress, passTime }
}

describe('the facts of progress', () => {
  it('of files are percent, lines, rate and the time left', () => {
    assert.deepEqual(progressFacts(half, 20_000), ['50%', '1,234,567 lines', '61,728 lines/s', '0:20 left'])
    const quarter = { ...half, bytesRead: 250 }
    assert.equal(progressFacts(quarter, 1_234_567).at(-1), '1:01:44 left')
  })

  it('of a pipe are lines, rate and the time it has taken', () => {
    assert.deepEqual(progressFacts(pipe, 61_000), ['1,234,567 lines', '20,239 lines/s', '1:01'])
  })

  it('never say more than 100 percent, of a file that grows', () => {
    const grown = { ...half, bytesRead: 1_100 }
    assert.deepEqual(progressFacts(grown, 1_000), [
      '100%',
      '1,234,567 lines',
      '1,234,567 lines/s',
      '0:00 left',
    ])
  })

  it('leave out what nothing is known of yet', () => {
    const start = { lines: 0, bytesRead: 0, totalBytes: 1_000 }
    assert.deepEqual(progressFacts(start, 0), ['0%', '0 lines', '0 lines/s'])
    assert.deepEqual(progressFacts({ ...start, totalBytes: 0 }, 0), ['0 lines', '0 lines/s', '0:00'])
  })
})

describe('the line on a screen', () => {
  it('has a bar as long as there is room for', () => {
    const facts = '50%  1,234,567 lines  61,728 lines/s  0:20 left'
    assert.equal(progressBar(importProgress(half, 20_000), 80), `[##############..............]  ${facts}`)
    assert.equal(
      progressBar(importProgress(half, 20_000), 200),
      `[${'#'.repeat(20)}${'.'.repeat(20)}]  ${facts}`,
    )
    assert.equal(progressBar(importProgress(half, 20_000), 50), facts)
  })

  it('has none where the end is not known', () => {
    assert.equal(progressBar(importProgress(pipe, 61_000), 80), '1,234,567 lines  20,239 lines/s  1:01')
  })

  it('leaves the last column free, however narrow the screen is', () => {
    for (let columns = 1; columns < 120; columns++) {
      for (const state of [half, pipe])
        assert.ok(progressBar(importProgress(state, 20_000), columns).length < columns)
    }
  })
})

describe('progress', () => {
  it('is drawn on a screen after the first second, and taken away at the end', () => {
    const { said, progress, passTime } = watched(40)
    passTime(999)
    assert.deepEqual(said, [])
    passTime(1)
    passTime(250)
    assert.equal(said.length, 2)
    assert.match(said[1] ?? '', /^drawn: 50% {2}1,234,567 lines/)
    progress.end()
    assert.equal(said.at(-1), 'drawn: ')
  })

  it('is told every ten seconds where there is no screen', () => {
    const { said, passTime } = watched(null)
    for (let ms = 0; ms < 25_000; ms += 250) passTime(250)
    assert.deepEqual(said, [
      '50%, 1,234,567 lines, 123,457 lines/s, 0:10 left',
      '50%, 1,234,567 lines, 61,728 lines/s, 0:20 left',
    ])
  })
})
