import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { describe, it } from 'node:test'

const module = new URL('../../src/cli/terminal.ts', import.meta.url)

/** What a process wrote whose terminal was used so, and how it ended. */
function written(use: string, stdio: ('pipe' | number)[] = ['pipe', 'pipe', 'pipe']) {
  const script = `import { processTerminal } from ${JSON.stringify(module)}\nconst terminal = processTerminal()\n${use}`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', stdio })
}

describe('a line that is drawn', () => {
  const clear = '\r\x1b[K'

  it('gives way to the next one, and to lines of every kind', () => {
    const use =
      "for (const draw of ['one', 'two']) terminal.draw(draw); terminal.tell('three'); terminal.tell('four')"
    assert.equal(written(use).stderr, `${clear}one${clear}two${clear}three\nfour\n`)
    const { stdout, stderr } = written("terminal.draw('one'); terminal.print('result')")
    assert.deepEqual([stdout, stderr], ['result\n', `${clear}one${clear}`])
  })

  it('leaves no trace where none was drawn', () => {
    assert.equal(written("terminal.draw(''); terminal.tell('one')").stderr, 'one\n')
  })
})

describe('the screen', () => {
  it('is not there when standard error is no terminal', () => {
    assert.equal(written('terminal.print(String(terminal.columns()))').stdout, 'null\n')
  })

  it('is as wide as most are when it does not say how wide', () => {
    const use = 'Object.assign(process.stderr, { isTTY: true, columns: 0 }); '
    assert.equal(written(`${use}terminal.print(String(terminal.columns()))`).stdout, '80\n')
  })
})

describe('a disk that is full', {
  skip: existsSync('/dev/full') ? false : 'there is no /dev/full here',
}, () => {
  function writtenTo(stream: 'stdout' | 'stderr', use: string) {
    const full = openSync('/dev/full', 'w')
    try {
      return written(use, stream === 'stdout' ? ['pipe', full, 'pipe'] : ['pipe', 'pipe', full])
    } finally {
      closeSync(full)
    }
  }

  it('under the results ends the command with one line and exit code 1', () => {
    for (const print of [
      "terminal.print('result')",
      "await terminal.pour((async function* () { yield 'result' })())",
    ]) {
      const { status, stderr } = writtenTo('stdout', print)
      assert.match(stderr, /^error: Cannot write to standard output: ENOSPC: no space left on device.*\n$/)
      assert.equal(status, 1)
    }
  })

  it('under what is for people costs only that', () => {
    const { status, stdout } = writtenTo(
      'stderr',
      "terminal.tell('one'); terminal.draw('two'); terminal.print('result')",
    )
    assert.deepEqual([status, stdout], [0, 'result\n'])
  })
})
