import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LogOutput, maxWaitingLength } from '../src/runtime/log.ts'
import { until } from './support/until.ts'

const line = (number: number, length = 20) => `${String(number).padEnd(length - 1, '.')}\n`

/** An output whose writes are controlled by the test, and its results. */
function outputTo(writeSome: (bytes: Buffer) => number) {
  const told: [number, string][] = []
  let text = ''
  const output = new LogOutput(
    (bytes, done) => {
      let written: number
      try {
        written = writeSome(bytes)
      } catch (error) {
        assert.ok(error instanceof Error)
        done(error, 0)
        return
      }
      text += bytes.toString('utf8', 0, written)
      done(null, written)
    },
    (dropped, reason) => told.push([dropped, reason]),
  )
  return { output, told, text: () => text }
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code })
}

describe('the log output', () => {
  it('writes every line in order, however few bytes each write accepts', async () => {
    const { output, text } = outputTo((bytes) => Math.min(7, bytes.length))
    const lines = Array.from({ length: 100 }, (_, at) => line(at))
    for (const each of lines) output.write(each)
    await until(() => text() === lines.join(''))
    assert.equal(output.droppedLines, 0)
  })

  it('keeps its lines for a slow reader, up to a limit, and counts dropped ones', async () => {
    let isRead = false
    const { output, told, text } = outputTo((bytes) => {
      if (!isRead) throw failure('EAGAIN')
      return Math.min(64 * 1024, bytes.length)
    })
    const each = 1_024
    const kept = maxWaitingLength / each
    for (let at = 0; at < kept + 10; at++) output.write(line(at, each))
    assert.equal(output.droppedLines, 10)
    isRead = true
    await until(() => told.length > 0)
    assert.deepEqual(told, [[10, 'too many lines waited']])
    assert.equal(text(), Array.from({ length: kept }, (_, at) => line(at, each)).join(''))
    output.write(line(-1))
    await until(() => text().endsWith(line(-1)))
    assert.deepEqual([told.length, output.droppedLines], [1, 10])
  })

  it('drops lines while the disk is full, and starts a new line after a truncated one', async () => {
    let room = 30
    const { output, told, text } = outputTo((bytes) => {
      if (room === 0) throw failure('ENOSPC')
      const written = Math.min(room, bytes.length)
      room -= written
      return written
    })
    for (const at of [1, 2, 3]) output.write(line(at))
    await until(() => output.droppedLines > 0)
    assert.equal(text(), `${line(1)}${line(2).slice(0, 10)}`)
    output.write(line(4))
    await until(() => output.droppedLines === 3)
    room = Number.POSITIVE_INFINITY
    output.write(line(5))
    await until(() => told.length > 0)
    assert.deepEqual(told, [[3, 'ENOSPC']])
    assert.equal(text(), `${line(1)}${line(2).slice(0, 10)}\n${line(5)}`)
  })

  it('does not count a line that only lacks its ending', async () => {
    let room = line(1).length - 1
    const { output, told, text } = outputTo((bytes) => {
      if (room === 0) throw failure('ENOSPC')
      const written = Math.min(room, bytes.length)
      room -= written
      return written
    })
    output.write(line(1))
    output.write(line(2))
    await until(() => output.droppedLines > 0)
    room = Number.POSITIVE_INFINITY
    output.write(line(3))
    await until(() => told.length > 0)
    assert.deepEqual(told, [[1, 'ENOSPC']])
    assert.equal(text(), `${line(1)}${line(3)}`)
  })

  for (const code of ['EPIPE', 'EIO']) {
    it(`continues after ${code}`, async () => {
      let isBroken = true
      const { output, told, text } = outputTo((bytes) => {
        if (isBroken) throw failure(code)
        return bytes.length
      })
      output.write(line(1))
      await until(() => output.droppedLines === 1)
      isBroken = false
      output.write(line(2))
      await until(() => told.length > 0)
      assert.deepEqual([told, text()], [[[1, code]], line(2)])
    })
  }

  it('writes the waiting lines at the end, unless the reader accepts nothing', () => {
    const { output } = outputTo(() => assert.fail('it is over'))
    output.write(line(1))
    output.write(line(2))
    let text = ''
    output.finish((bytes) => {
      text += bytes.toString('utf8', 0, 15)
      return Math.min(15, bytes.length)
    })
    assert.equal(text, line(1) + line(2))
    const { output: unread } = outputTo(() => assert.fail('it is over'))
    unread.write(line(1))
    unread.finish(() => {
      throw failure('EAGAIN')
    })
    unread.finish(() => {
      throw failure('ENOSPC')
    })
  })
})
