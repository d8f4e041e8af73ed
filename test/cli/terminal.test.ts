import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { describe, it } from 'node:test'

const module = new URL('../../src/cli/terminal.ts', import.meta.url)

/** Runs a script with a terminal, and returns its output and exit status. */
function written(use: string, stdio: ('pipe' | number)[] = ['pipe', 'pipe', 'pipe']) {
  const script = `import { processTerminal } from ${JSON.stringify(module)}\nconst terminal = processTerminal()\n${use}`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', stdio })
}

describe('a drawn line', () => {
  const clear = '\r\x1b[K'

  it('is replaced by the next one and by printed lines', () => {
    const use =
      "for (const draw of ['one', 'two']) terminal.draw(draw); terminal.tell('three'); terminal.tell('four')"
    assert.equal(written(use).stderr, `${clear}one${clear}two${clear}three\nfour\n`)
    const { stdout, stderr } = written("terminal.draw('one'); terminal.print('result')")
    assert.deepEqual([stdout, stderr], ['result\n', `${clear}one${clear}`])
  })

  it('leaves no control characters if none was drawn', () => {
    assert.equal(written("terminal.draw(''); terminal.tell('one')").stderr, 'one\n')
  })
})

describe('the screen', () => {
  it('is absent if standard error is not a terminal', () => {
    assert.equal(written('terminal.print(String(terminal.columns()))').stdout, 'null\n')
  })

  it('has 80 columns if its width is unknown', () => {
    const use = 'Object.assign(process.stderr, { isTTY: true, columns: 0 }); '
    assert.equal(written(`${use}terminal.print(String(terminal.columns()))`).stdout, '80\n')
  })
})

describe('a full disk', {
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

  it('for standard output ends the command with one line and exit code 1', () => {
    for (const print of [
      "terminal.print('result')",
      "await terminal.pour((async function* () { yield 'result' })())",
    ]) {
      const { status, stderr } = writtenTo('stdout', print)
      assert.match(stderr, /^error: Cannot write to standard output: ENOSPC: no space left on device.*\n$/)
      assert.equal(status, 1)
    }
  })

  it('for standard error does not affect the results', () => {
    const { status, stdout } = writtenTo(
      'stderr',
      "terminal.tell('one'); terminal.draw('two'); terminal.print('result')",
    )
    assert.deepEqual([status, stdout], [0, 'result\n'])
  })
})
