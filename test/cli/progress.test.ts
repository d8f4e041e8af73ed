import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  Progress,
  type ProgressState,
  progressBar,
  progressFacts,
  shareOf,
  workProgress,
} from '../../src/cli/progress.ts'

const half: ProgressState = { unit: 'lines', count: 1_234_567, share: shareOf(500, 1_000) }
const pipe: ProgressState = { ...half, share: shareOf(500, null) }

const viewOf = (state: ProgressState, elapsedMs: number) => ({
  share: state.share,
  done: state.count,
  facts: progressFacts(state, elapsedMs),
})

/** Progress with a fake clock, and everything it printed. */
function watched(columns: number | null, state = () => half) {
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
  const progress = new Progress(terminal, () => now, { view: workProgress(state) })
  const passTime = (ms: number) => {
    now += ms
    progress.tick()
  }
  return { said, progress, passTime }
}

describe('the line of progress', () => {
  it('of files has percentage, lines, rate and remaining time', () => {
    assert.deepEqual(progressFacts(half, 20_000), ['50%', '1,234,567 lines', '61,728 lines/s', '0:20 left'])
    const quarter = { ...half, share: shareOf(250, 1_000) }
    assert.equal(progressFacts(quarter, 1_234_567).at(-1), '1:01:44 left')
  })

  it('of a pipe has lines, rate and elapsed time', () => {
    assert.deepEqual(progressFacts(pipe, 61_000), ['1,234,567 lines', '20,239 lines/s', '1:01'])
  })

  it('never exceeds 100 percent, even if a file grows', () => {
    const grown = { ...half, share: shareOf(1_100, 1_000) }
    assert.deepEqual(progressFacts(grown, 1_000), [
      '100%',
      '1,234,567 lines',
      '1,234,567 lines/s',
      '0:00 left',
    ])
  })

  it('omits values that are not known yet', () => {
    const start: ProgressState = { unit: 'lines', count: 0, share: shareOf(0, 1_000) }
    assert.deepEqual(progressFacts(start, 0), ['0%', '0 lines', '0 lines/s'])
    assert.deepEqual(progressFacts({ ...start, share: shareOf(0, 0) }, 0), ['0 lines', '0 lines/s', '0:00'])
  })
})

describe('the line of work in steps', () => {
  it('starts with the step, and counts rows if it processes rows', () => {
    const copying: ProgressState = { ...half, unit: 'rows', step: 'copying' }
    assert.deepEqual(progressFacts(copying, 20_000), [
      'copying',
      '50%',
      '1,234,567 rows',
      '61,728 rows/s',
      '0:20 left',
    ])
  })
})

describe('the line on a terminal', () => {
  it('has a bar that fills the available width', () => {
    const facts = '50%  1,234,567 lines  61,728 lines/s  0:20 left'
    assert.equal(progressBar(viewOf(half, 20_000), 80), `[##############..............]  ${facts}`)
    assert.equal(progressBar(viewOf(half, 20_000), 200), `[${'#'.repeat(20)}${'.'.repeat(20)}]  ${facts}`)
    assert.equal(progressBar(viewOf(half, 20_000), 50), facts)
  })

  it('has no bar if the end is unknown', () => {
    assert.equal(progressBar(viewOf(pipe, 61_000), 80), '1,234,567 lines  20,239 lines/s  1:01')
  })

  it('leaves the last column free on a terminal of any width', () => {
    for (let columns = 1; columns < 120; columns++) {
      for (const state of [half, pipe])
        assert.ok(progressBar(viewOf(state, 20_000), columns).length < columns)
    }
  })
})

describe('progress', () => {
  it('is drawn on a terminal after the first second, and removed at the end', () => {
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

  it('is printed every ten seconds without a terminal', () => {
    let count = 1_234_567
    const { said, passTime } = watched(null, () => ({ ...half, count: count++ }))
    for (let ms = 0; ms < 25_000; ms += 250) passTime(250)
    assert.deepEqual(said, [
      '50%, 1,234,606 lines, 123,461 lines/s, 0:10 left',
      '50%, 1,234,646 lines, 61,732 lines/s, 0:20 left',
    ])
  })

  it('is printed without a terminal only if there was progress', () => {
    let state = { ...pipe, count: 0 }
    const { said, passTime } = watched(null, () => state)
    const anHour = 3_600_000
    passTime(anHour)
    assert.deepEqual(said, [])
    state = { ...pipe, count: 36_000 }
    passTime(250)
    for (let ms = 0; ms < anHour; ms += 60_000) passTime(60_000)
    assert.deepEqual(said, ['36,000 lines, 10 lines/s, 1:00:00'])
  })

  it('measures the rate and remaining time of each step separately', () => {
    let state = { ...half, step: 'copying' }
    const { said, passTime } = watched(200, () => state)
    passTime(10_000)
    state = { ...half, step: 'verifying' }
    passTime(250)
    passTime(20_000)
    assert.match(said[0] ?? '', /copying {2}50%/)
    assert.match(said[1] ?? '', /verifying {2}50% {2}1,234,567 lines {2}0 lines\/s/)
    assert.match(said[2] ?? '', / 61,728 lines\/s {2}0:20 left$/)
  })
})
